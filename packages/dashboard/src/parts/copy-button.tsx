import { useState } from 'preact/hooks';
import { announce } from '../browser/announce.ts';
import { Icon } from './icon.tsx';

const shownMs = 1500;

export function CopyButton({ text, label, words }: { text: string; label: string; words?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    announce('Copied');
    setTimeout(() => setCopied(false), shownMs);
  };
  return (
    <button
      type="button"
      class={words ? 'button' : 'icon-button'}
      aria-label={words ? undefined : label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
      {words && (isCopied ? 'Copied' : words)}
    </button>
  );
}

/** A text to take away: a command, a configuration. */
export function CopyBlock({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="copy-block">
      <pre tabIndex={0} role="group" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} label={`Copy: ${label}`} />
    </div>
  );
}
