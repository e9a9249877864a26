const paths = {
  undo: 'M3 6h7a3.5 3.5 0 0 1 0 7H6M3 6l3-3M3 6l3 3',
  terminal: 'M3 4l4 4-4 4M8.5 12H13',
  file: 'M4 2h5l3 3v9H4zM9 2v3h3',
  folder: 'M2 4h4l1.5 1.5H14V13H2z',
  link: 'M6.5 9.5l3-3M7 4.5l1-1a3 3 0 0 1 4.5 4.5l-1 1M9 11.5l-1 1A3 3 0 0 1 3.5 8l1-1',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.5 10.5L14 14',
  download: 'M8 2v8M5 7.5L8 10.5l3-3M3 13h10',
  upload: 'M8 11V3M5 5.5L8 2.5l3 3M3 13h10',
  copy: 'M5 5V2.5h8.5V11H11M2.5 5H11v8.5H2.5z',
  close: 'M4 4l8 8M12 4l-8 8',
  right: 'M6 3.5L10.5 8 6 12.5',
  down: 'M3.5 6L8 10.5 12.5 6',
  up: 'M3.5 10L8 5.5 12.5 10',
  agent: 'M3.5 5.5h9v7h-9zM8 5.5V2.5M6 8.5v1M10 8.5v1',
  check: 'M3 8.5l3.5 3.5L13 4.5',
  diff: 'M8 2.5v6M5 5.5h6M5 13h6',
  pause: 'M5.5 3v10M10.5 3v10',
  play: 'M5 3l8 5-8 5z',
  history: 'M2.5 8a5.5 5.5 0 1 0 2-4.2L2.5 5.5M2.5 2v3.5H6M8 5v3l2 1.5',
  camera: 'M2 5h3l1-1.5h4L11 5h3v8H2zM8 11a2.25 2.25 0 1 0 0-4.5 2.25 2.25 0 0 0 0 4.5z',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  now: 'M1.5 8h3l2-5 3 10 2-5h3',
  stop: 'M4 4h8v8H4z',
} as const;

export type IconName = keyof typeof paths;

/** Always beside words, or inside an element that has a label. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
