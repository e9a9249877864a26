import { useState } from 'preact/hooks';
import { CopyBlock } from '../parts/copy-button.tsx';
import { Failure } from '../parts/loading-states.tsx';
import type { RequestError } from '../server/request.ts';
import { signIn } from '../server/session.ts';

export function SignIn({ error }: { readonly error?: RequestError | undefined }) {
  const [isSending, setSending] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const secret = String(new FormData(form).get('key') ?? '').trim();
    if (secret === '' || isSending) return;
    setSending(true);
    await signIn(secret);
    setSending(false);
  };
  return (
    <main class="sign-in">
      <svg viewBox="0 0 16 16" width="40" height="40" aria-hidden="true" class="brand-mark">
        <path d="M10 2H4a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2V6M6 7v3M10 7v3" />
      </svg>
      <h1>Sign in to Croft</h1>
      {error && <Failure error={error} />}
      <form onSubmit={(event) => void submit(event as unknown as SubmitEvent)}>
        <label for="key">Key of your account, or the admin token</label>
        <input id="key" name="key" type="password" autocomplete="current-password" spellcheck={false} required />
        <button type="submit" class="button button-primary" disabled={isSending}>
          Sign in
        </button>
      </form>
      <p class="muted">On the machine of the server, this opens the page signed in:</p>
      <CopyBlock text="croft open" label="Command that signs in" />
    </main>
  );
}
