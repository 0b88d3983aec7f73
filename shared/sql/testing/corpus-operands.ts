/** Operands that are GoogleSQL, by the corner of the grammar that they reach into. */
export const operands: Record<string, string> = {
  strings: String.raw`
    'a'
    "a"
    ''
    ""
    '''it's ''here'' '''
    """say "yes" """
    ''''''
    r'\d+\.\w'
    R"\n"
    r'\''
    r'''\'''a'''
    b'abc'
    B"\xff\000"
    rb'\x'
    bR"""a"b"""
    '\a\b\f\n\r\t\v\\\?\"\'\x60'
    '\x41\X42\101'
    "\u00e9\U0001F600"
    'größer 日本語 😀'
    '-- no comment'
    "/* no comment */ # none"
    'select 1; drop table t'
    '\\'`,
  numbers: `
    0
    42
    0xFF
    0X1f
    1.5
    1.
    .5
    1e10
    1E-3
    1.5e+7
    .5e1
    99999999999999999999`,
  constants: `
    null
    True
    FALSE
    @name
    @CamelCase
    @_x1`,
  'typed literals': `
    date '2026-01-31'
    TIMESTAMP "2026-01-01 00:00:00+00"
    datetime '2026-01-01T00:00:00'
    time '12:00:00'
    numeric '1.5'
    bignumeric '-1e30'
    decimal '1'
    bigdecimal '2'
    json '{"a": [1, 2]}'
    json r'{"a": "\\u0041"}'
    (json '{"a": 1}').a
    (json '[1]')[0]`,
  intervals: `
    interval 5 day
    INTERVAL -1 MONTH
    interval @n hour
    interval (1 + 2) minute
    interval 1 + 2 second
    interval x.y week
    interval cast(@n as int64) quarter
    interval case @i when 'a' then 1 else 2 end minute
    interval '1-2' year to month
    interval '1 2:3:4.5' day to second
    timestamp '2026-01-01' - interval 1 day + interval 2 hour`,
  'names and fields': `
    a
    a.b.c
    a.select.from
    \`a\`
    \`select\`
    \`a b\`.\`c.d\`
    \`größe\`
    date
    timestamp
    offset
    value
    current_timestamp
    f(x).y
    f(x).y.select
    (a).b
    a[0].b[1].c
    @p.field
    (select as struct 1 as a).a
    struct(1 as a).a
    (case when a then b end).c`,
  subscripts: `
    [1, 2][offset(0)]
    a[ordinal(1)]
    a[SAFE_OFFSET(i + 1)]
    a.b[safe_ordinal(@n)]
    a[0]
    a['key']
    a[offset]
    a[(offset)]
    array(select 1)[0]
    split(x, ',')[offset(1)]`,
}
