import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import type { TerminalScreen } from './connect-terminal.ts';

/** xterm makes `<style>` elements and takes no nonce, so that every new one gets it before it is put anywhere. */
function stampStyles(): void {
  const nonce = document.querySelector<HTMLElement>('meta[property=csp-nonce]')?.nonce ?? '';
  const create = document.createElement.bind(document);
  document.createElement = ((name: string, options?: ElementCreationOptions) => {
    const element = create(name, options);
    if (name.toLowerCase() === 'style') element.nonce = nonce;
    return element;
  }) as typeof document.createElement;
}

let isStamped = false;

interface Screen extends TerminalScreen {
  focus(): void;
  onType(listener: (text: string) => void): void;
  onResize(listener: () => void): void;
  dispose(): void;
}

/** A terminal emulator in `element`, as large as it. */
export function openScreen(element: HTMLElement): Screen {
  if (!isStamped) stampStyles();
  isStamped = true;
  const style = getComputedStyle(document.documentElement);
  const terminal = new Terminal({
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    fontFamily: style.getPropertyValue('--mono'),
    fontSize: 13,
    lineHeight: 1.2,
    screenReaderMode: true,
    scrollback: 5000,
    theme: { background: '#14171c', foreground: '#dfe3ea', cursor: '#8ab4f8', selectionBackground: '#33507c' },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  fit.fit();
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(element);
  return {
    size: () => ({ rows: terminal.rows, columns: terminal.cols }),
    show: (bytes, done) => terminal.write(bytes, done),
    clear: () => terminal.reset(),
    focus: () => terminal.focus(),
    onType: (listener) => terminal.onData(listener),
    onResize: (listener) => terminal.onResize(listener),
    dispose() {
      observer.disconnect();
      terminal.dispose();
    },
  };
}
