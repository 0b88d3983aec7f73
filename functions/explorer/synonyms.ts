/** What people type for commands whose names have other words. */

/** By the command's name, and by what stands before its colon. */
const synonyms: Record<string, string> = {
  Run: 'search query execute refresh reload update',
  'Run fresh': 'refresh reload uncached no cache bypass force',
  Stop: 'cancel abort',
  'Follow new rows': 'live tail stream watch auto refresh',
  'Stop following new rows': 'live tail stream pause',
  'Clear all': 'reset remove filters start over',
  'Redact personal data': 'pii privacy mask hide anonymise gdpr',
  'Show personal data': 'pii privacy unmask reveal redacted',
  'Show the fields': 'columns facets sidebar panel',
  'Hide the fields': 'columns facets sidebar panel',
  'Show the chart': 'histogram graph timeline',
  'Hide the chart': 'histogram graph timeline',
  'Show wrapped messages': 'wrap lines long',
  'Hide wrapped messages': 'wrap lines long truncate',
  List: 'group cluster shapes templates rows events',
  Table: 'source log index stream service',
  'Errors in all tables': 'failures other tables elsewhere everywhere 5xx',
  Range: 'time period date last ago since',
  'Compare with': 'previous past difference change delta versus vs baseline',
  'Show in the chart':
    'measure metric graph plot rate ratio percent percentile latency median mean maximum count',
  'Show in the chart: share of 5xx': 'error failure server',
  'Show in the chart: share of 4xx': 'error failure client',
  'Show in the chart: share of error': 'failure',
  'Order of values and patterns': 'sort rank change increase top',
  'Show the column': 'add field',
  'Remove the column': 'hide field',
  'Values of': 'top facet breakdown group split count distinct by field',
  'Copy link': 'share url permalink address',
  'Copy link to this period': 'share url permalink address absolute fixed',
  'Copy as curl': 'share command line terminal api request',
  'CSV of rows shown': 'export download save file spreadsheet excel',
  'JSON of rows shown': 'export download save file',
  'Continue in SQL': 'query editor edit code',
  Query: 'editor edit code form',
  'Format the SQL': 'beautify indent pretty prettify',
  'Next row': 'down older',
  'Previous row': 'up newer',
  'Open the row': 'details expand entry inspect',
  'Close the entry': 'back dismiss details',
  Search: 'find filter grep text',
  View: 'tab page go to switch',
  Endpoint: 'go to open switch dataset query',
  Views: 'saved bookmarks favourites recent history share',
  'Saved view': 'bookmark favourite dashboard',
  'Recent view': 'history last previous',
  'New alert': 'monitor notify alarm create make',
  'Save as endpoint': 'export api create make publish share',
  Theme: 'appearance colour mode night',
  'Keyboard shortcuts': 'help hotkeys keys',
  'Change key': 'log out sign out logout log in token switch account forget',
}

/** @param name of a command, as `Theme: dark` */
export function synonymsOf(name: string): string {
  const [kind = ''] = name.split(':')
  return [...new Set([name, kind])].map(each => synonyms[each] ?? '').join(' ')
}
