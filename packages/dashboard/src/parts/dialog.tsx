import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
  readonly isWide?: boolean;
}

/** The browser's own dialog: it keeps the focus inside, closes by Escape and gives the focus back. */
export function Dialog({ title, children, onClose, isWide }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key: a person types at once.
  useLayoutEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => (before instanceof HTMLElement && before.isConnected ? before.focus() : undefined);
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the dialog closes by Escape.
    <dialog
      class={isWide ? 'dialog dialog-wide' : 'dialog'}
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && dialog.current?.close()}
    >
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Text of the button, a verb. */
  readonly action: string;
  readonly isDangerous?: boolean;
  onConfirm(): void;
  onClose(): void;
}

export function Confirm({ title, children, action, isDangerous, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          onConfirm();
        }}
      >
        <h2>{title}</h2>
        {children}
        <div class="actions">
          <button type="submit" class={`button ${isDangerous ? 'button-danger' : 'button-primary'}`}>
            {action}
          </button>
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
