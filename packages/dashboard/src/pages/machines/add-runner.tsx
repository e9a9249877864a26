import { useState } from 'preact/hooks';
import { CopyBlock } from '../../parts/copy-button.tsx';
import { Failure } from '../../parts/loading-states.tsx';
import { useAction } from '../../parts/use-action.ts';
import { request } from '../../server/request.ts';
import { mayDo } from '../../server/session.ts';
import { invalidate } from '../../server/use-resource.ts';
import { toServerUrl } from '../agents/client-configurations.ts';

/** Makes the token of a runner, and shows once what starts it. */
export function AddRunner() {
  const [name, setName] = useState('');
  const [command, setCommand] = useState<string | undefined>(undefined);
  const add = useAction(async () => {
    const { token } = await request<{ token: string }>('POST', '/v1/runners', { body: { name: name.trim() } });
    setCommand(toCommand(token));
    setName('');
    invalidate('/v1/runners');
  });
  return (
    <form
      class="add-runner"
      onSubmit={(event) => {
        event.preventDefault();
        add.run();
      }}
    >
      <p class="muted">A runner is a machine of yours that connects to this server and offers its sandboxes.</p>
      {mayDo('write') && (
        <div class="step-line">
          <input
            aria-label="Name of the new runner"
            placeholder="Name, such as laptop"
            required
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
          <button type="submit" class="button" disabled={add.isRunning}>
            Add a runner
          </button>
        </div>
      )}
      {add.error && <Failure error={add.error} />}
      {command !== undefined && (
        <div role="status">
          <p>
            <strong>Run this on the machine.</strong> The token in it is shown this once.
          </p>
          <CopyBlock text={command} label="What starts the runner" />
        </div>
      )}
    </form>
  );
}

/** The token is in a file, because everybody on a machine sees the arguments of its programs. */
function toCommand(token: string): string {
  return [
    `(umask 077; echo ${token} > runner.token)`,
    `croft runner --server ${toServerUrl(location, '')} --token-file runner.token --root ~/croft-workspaces`,
  ].join('\n');
}
