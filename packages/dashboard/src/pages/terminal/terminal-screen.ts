import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import type { TerminalScreen } from './connect-terminal.ts';

/** Gives every `<style>` element that xterm creates the nonce of the page, because xterm takes no nonce. */
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

/** Every colour is readable on the background, which `.terminal-screen` has too. */
const theme = {
  ...{ background: '#14171c', foreground: '#dfe3ea', cursor: '#8ab4f8', selectionBackground: '#33507c' },
  ...{ black: '#3b424d', red: '#f28b82', green: '#81c995', yellow: '#fdd663', blue: '#8ab4f8', magenta: '#c58af9' },
  ...{ cyan: '#78d9ec', white: '#dfe3ea', brightBlack: '#8a93a3', brightRed: '#f6aea9', brightGreen: '#a8dab5' },
  ...{ brightYellow: '#fde293', brightBlue: '#aecbfa', brightMagenta: '#d7aefb', brightCyan: '#a1e4f2' },
  brightWhite: '#ffffff',
};

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
    theme,
  });
  let silent = 0;
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  terminal.open(element);
  fit.fit();
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(element);
  return {
    size: () => ({ rows: terminal.rows, columns: terminal.cols }),
    show(bytes, isSilent, done) {
      if (isSilent) silent++;
      terminal.write(bytes, () => {
        if (isSilent) silent--;
        done();
      });
    },
    clear: () => terminal.reset(),
    focus: () => terminal.focus(),
    onType: (listener) => terminal.onData((text) => silent === 0 && listener(text)),
    onResize: (listener) => terminal.onResize(listener),
    dispose() {
      observer.disconnect();
      terminal.dispose();
    },
  };
}
