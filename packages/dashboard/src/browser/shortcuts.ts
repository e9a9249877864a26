import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

/** Actions by key. A key is one character, or two that are pressed one after the other: `g n`. */
type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

const offKey = 'croft-keys';
export const areKeysOn = signal(localStorage.getItem(offKey) !== 'off');

export function setKeys(isOn: boolean): void {
  areKeysOn.value = isOn;
  localStorage.setItem(offKey, isOn ? 'on' : 'off');
}

const stack: { current: Shortcuts }[] = [];
let prefix = '';
let prefixTimer: ReturnType<typeof setTimeout> | undefined;
const prefixMs = 1200;

/** Adds shortcuts while a component is shown. A key runs the component's latest function. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const entry = useRef({ current: shortcuts }).current;
  entry.current = shortcuts;
  useEffect(() => {
    stack.push(entry);
    return () => {
      stack.splice(stack.indexOf(entry), 1);
    };
  }, [entry]);
}

export function listenToKeys(): () => void {
  document.addEventListener('keydown', press);
  return () => document.removeEventListener('keydown', press);
}

/** A key that is held acts once. Keys that are typed into a field are text. */
function press(event: KeyboardEvent): void {
  const { key } = event;
  const name = isPaletteKey(event) ? 'ctrl k' : isForUs(event) ? [prefix, key].join(' ').trim() : undefined;
  if (name === undefined) return;
  const found = stack.findLast(({ current }) => current[name]);
  setPrefix('');
  if (found) {
    event.preventDefault();
    found.current[name]?.(event);
  } else if (key === 'g') setPrefix('g');
}

function isPaletteKey({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k';
}

function isForUs(event: KeyboardEvent): boolean {
  const { key, ctrlKey, metaKey, altKey, repeat, defaultPrevented } = event;
  if (defaultPrevented || ctrlKey || metaKey || altKey || repeat) return false;
  return areKeysOn.value && !isTyping(event) && !(key === 'Enter' && isControl(event.target));
}

function setPrefix(next: string): void {
  clearTimeout(prefixTimer);
  prefix = next;
  if (next !== '') prefixTimer = setTimeout(() => setPrefix(''), prefixMs);
}

function isTyping({ target }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false;
  return target.closest('input, textarea, select, [contenteditable], .xterm, dialog') !== null;
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button, summary') !== null;
}
