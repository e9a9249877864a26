import { computed, signal } from '@preact/signals';

interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** The address says what the page shows, so that links and the back button of the browser work. */
const here = signal<Place>(read());

export const path = computed(() => here.value.path);

/** A value of the query. */
export function useQuery(name: string): string | undefined {
  return here.value.query.get(name) ?? undefined;
}

export function navigate(href: string, { replace = false } = {}): void {
  const target = new URL(href, location.href);
  if (target.href === location.href) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', target);
  const isOtherPage = target.pathname !== here.peek().path;
  here.value = read();
  if (isOtherPage && !replace) scrollTo(0, 0);
}

/** Returns the address of this page with changed values of the query; `undefined` removes one. */
export function withQuery(changes: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(here.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const search = query.toString();
  return here.value.path + (search === '' ? '' : `?${search}`);
}

export function setQuery(changes: Readonly<Record<string, string | undefined>>, options?: { replace?: boolean }): void {
  navigate(withQuery(changes), options);
}

/** Links are links: a click of the first button stays on this page, every other way of opening is the browser's. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    here.value = read();
  });
  document.addEventListener('click', (event) => {
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link || event.defaultPrevented || !isPlainClick(event)) return;
    if (link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.getAttribute('href')?.startsWith('#')) return;
    event.preventDefault();
    navigate(link.href);
  });
}

function isPlainClick({ button, metaKey, ctrlKey, shiftKey, altKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey && !altKey;
}

function read(): Place {
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}
