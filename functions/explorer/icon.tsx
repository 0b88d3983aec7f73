/** Small pictures beside words, drawn as lines of 1.5 on a field of 16. */

const paths = {
  play: 'M5 3.5v9l7-4.5z',
  stop: 'M4.5 4.5h7v7h-7z',
  follow: 'M8 7.5v1M5.2 5a4.2 4.2 0 0 0 0 6M10.8 5a4.2 4.2 0 0 1 0 6M3 3a7 7 0 0 0 0 10M13 3a7 7 0 0 1 0 10',
  earlier: 'M10 3.5 5.5 8l4.5 4.5',
  later: 'M6 3.5 10.5 8 6 12.5',
  up: 'M4 10l4-4 4 4',
  down: 'M4 6l4 4 4-4',
  back: 'M6 3 3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H6',
  close: 'M4 4l8 8M12 4l-8 8',
  filters: 'M2.5 4.5h11M4.5 8h7M6.5 11.5h3',
  fields: 'M3 3.5v9M6 4h7M6 8h7M6 12h7',
  chart: 'M3.5 13V8M8 13V3M12.5 13V6',
  wrap: 'M2.5 4h11M2.5 8h9a2 2 0 0 1 0 4.5H8M9.5 10.5l-2 2 2 2M2.5 12.5h2',
  firing: 'M8 2.5 14.2 13.5H1.8zM8 6.5v3.2M8 11.5v.1',
  failing: 'M5.3 1.8h5.4l3.5 3.5v5.4l-3.5 3.5H5.3l-3.5-3.5V5.3zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  'no data':
    'M2.5 2.5h2M7 2.5h2M11.5 2.5h2v2M13.5 7v2M13.5 11.5v2h-2M9 13.5H7M4.5 13.5h-2v-2M2.5 9V7M2.5 4.5v-2',
  pending: 'M14 8A6 6 0 1 1 8 2M8 4.5V8l2.5 1.5',
  new: 'M8 7.9v.2M4 7.9v.2M12 7.9v.2',
  calm: 'M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0M5.3 8.2l1.9 1.9 3.5-4',
  silenced: 'M4 11.5V7a4 4 0 0 1 8 0v4.5M2.5 11.5h11M7 14h2M2 2l12 12',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
