// The icons of the page, as strokes on a 24-unit grid.
const paths = {
  app: "M5 20v-8a7 7 0 0 1 14 0v8M12 10.5c.6 2.3 3.2 3.2 3.2 6.300a3.2 3.2 0 0 1-6.4 0c0-1.3.7-2.1 1.3-2.8.3.7.6 1 1 1.3 0-1.8.2-3.4.9-4.800Z",
  archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
  arrowDown: "M12 5v14M6 13l6 6 6-6",
  branch: "M7 4v16M7 14c0-4 10-2 10-7M17 4v3M14.5 6.5 17 4l2.5 2.5",
  brain:
    "M12 5a3 3 0 0 0-5.6 1.500A3.3 3.3 0 0 0 5 12.500a3.3 3.3 0 0 0 2.5 5.200A2.8 2.8 0 0 0 12 18.500zM12 5a3 3 0 0 1 5.6 1.5 3.3 3.3 0 0 1 1.4 6 3.3 3.3 0 0 1-2.5 5.2 2.8 2.8 0 0 1-4.5.8",
  chat: "M5 5h14a1.5 1.5 0 0 1 1.5 1.500v9A1.5 1.5 0 0 1 19 17h-8l-5 4v-4H5a1.5 1.5 0 0 1-1.5-1.500v-9A1.5 1.5 0 0 1 5 5Z",
  check: "M5 12.5 10 17.5 19 7",
  chevronDown: "m6 9.5 6 6 6-6",
  chevronLeft: "m14.5 6-6 6 6 6",
  chevronRight: "m9.5 6 6 6-6 6",
  clip: "m19 11-7.5 7.500a4.5 4.5 0 0 1-6.4-6.400L12.8 4.400a3 3 0 0 1 4.3 4.300l-7.5 7.400a1.5 1.5 0 0 1-2.1-2.100L14 7.5",
  close: "M6 6l12 12M18 6 6 18",
  code: "M8.5 7 3.5 12l5 5M15.5 7l5 5-5 5",
  columns: "M4 5h16v14H4zM12 5v14",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  download: "M12 4v11M7 10.500l5 5 5-5M5 20h14",
  edit: "M4 20l1-4.500L15.5 5 19 8.5 8.5 19zM13.5 7l3.5 3.5",
  error: "M12 3.5 21.5 20h-19zM12 10v4.500M12 17v.5",
  file: "M6 3.500h8l4 4v13H6zM14 3.500v4h4",
  folder: "M3.5 6h6l2 2.500h9V19h-17z",
  forward: "M5 6l7 6-7 6zM13 6l7 6-7 6z",
  image: "M4 5h16v14H4zM4 16l4.5-4.500L13 16l2.5-2.500L20 18M15 9.500v.1",
  info: "M12 3.500a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17ZM12 11v5.500M12 7.500v.2",
  key: "M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM11 12.2 19.5 3.500M16 7l3 3M13.5 9.500l2 2",
  keyboard: "M3 7h18v10H3zM7 10.500v.1M11 10.500v.1M15 10.500v.1M8 14h8M18.5 10.500v.1",
  library: "M4 5h4v14H4zM8 5h4v14H8zM13 6l4-1 3.2 13.6-4 1z",
  menu: "M4 7h16M4 12h16M4 17h16",
  more: "M5 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0ZM11.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0ZM17.8 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0Z",
  pause: "M8 5v14M16 5v14",
  pin: "M9 4h6l-1 6 3.5 3.500h-11L10 10zM12 13.500V20",
  play: "M7 5v14l12-7z",
  plus: "M12 5v14M5 12h14",
  retry: "M20 12a8 8 0 1 1-2.5-5.800M20 4v5h-5",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM15.5 15.5 20.5 20.5",
  send: "M12 20V5M5.5 11.5 12 5l6.5 6.5",
  server: "M4 5h16v6H4zM4 13h16v6H4zM7.5 8v.1M7.5 16v.1M12 8h5M12 16h5",
  settings: "M4 7h9M17 7h3M15 4.800v4.400M4 17h3M11 17h9M9 14.800v4.4",
  sliders: "M6 4v6M6 14v6M12 4v2M12 10v10M18 4v10M18 18v2M4 12h4M10 8h4M16 16h4",
  stop: "M6 6h12v12H6z",
  text: "M5 6h14M5 10.500h14M5 15h9M5 19.500h6",
  tools:
    "M14.500 6.500a4 4 0 0 1 5.300-3.300l-2.500 2.500 1 2 2 1 2.500-2.500a4 4 0 0 1-5.300 5.300L9.500 19.500a2.100 2.100 0 0 1-3-3L14.500 8.500z",
  trash: "M5 7h14M10 4h4M7 7l1 13h8l1-13M10.5 11v5.500M13.5 11v5.5",
  upload: "M12 16V5M7 9.5 12 4.500l5 5M5 20h14",
} as const;

export type IconName = keyof typeof paths;

/** Decoration beside a text or in a named button: hidden from screen readers. */
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width={size} height={size} aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
