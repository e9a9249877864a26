import type { SearchEntry } from '../write-search-index.ts';
import { findEntries, type Match } from './find-entries.ts';

declare global {
  var croftDocs: readonly SearchEntry[] | undefined;
}

/** Searches the index, which is a script beside the pages: so it works on a server and from a disk. */
export function connectSearch(): void {
  const box = document.querySelector<HTMLElement>('.find');
  const input = box?.querySelector('input');
  const list = box?.querySelector<HTMLElement>('#found');
  if (!box || !input || !list) return;
  box.hidden = false;
  const close = () => {
    list.hidden = true;
  };
  const update = () => show(list, input.value, findEntries(globalThis.croftDocs ?? [], input.value));
  input.addEventListener('focus', () => loadIndex(update), { once: true });
  input.addEventListener('input', update);
  input.addEventListener('focus', update);
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close();
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event, box);
    if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click();
  });
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && box.contains(relatedTarget))) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    input.focus();
  });
}

function loadIndex(done: () => void): void {
  const script = document.createElement('script');
  script.src = 'search.js';
  script.addEventListener('load', done);
  document.head.append(script);
}

function move(event: KeyboardEvent, box: HTMLElement): void {
  const stops = [...box.querySelectorAll<HTMLElement>('input, a')];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  event.preventDefault();
  stops[Math.max(0, Math.min(stops.length - 1, at + (event.key === 'ArrowDown' ? 1 : -1)))]?.focus();
}

function show(list: HTMLElement, asked: string, matches: readonly Match[]): void {
  list.hidden = asked.trim() === '';
  const nothing = Object.assign(document.createElement('p'), { textContent: 'Nothing was found.' });
  list.replaceChildren(...(matches.length === 0 ? [nothing] : matches.map(toLink)));
}

function toLink({ address, page, heading, excerpt }: Match): HTMLElement {
  const link = document.createElement('a');
  link.href = address;
  const name = Object.assign(document.createElement('b'), {
    textContent: heading === '' ? page : `${page} › ${heading}`,
  });
  const words = Object.assign(document.createElement('span'), { textContent: excerpt });
  link.append(name, words);
  return link;
}
