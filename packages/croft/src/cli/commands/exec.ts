import { UsageError } from '../../lib/usage-error.ts';
import { defineClientCommand } from '../define-client-command.ts';
import { chooseAgent } from '../exec/choose-agent.ts';
import { runExec } from '../exec/run-exec.ts';
import { openKeyClient } from '../open-client.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { findWorkspace } from '../records/find-workspace.ts';

const mostSeconds = 600;
/** The server ends a session that is left behind, later. */
const closeMs = 2000;

export const exec = defineClientCommand({
  name: 'exec',
  usage:
    'WORKSPACE [-i] [--agent NAME | --sandbox NAME] [--cwd DIR] [--secret NAME …] [--timeout SECONDS] -- COMMAND …',
  examples: [
    'croft exec notes -- npm test',
    'croft exec -i notes -- sort < names.txt',
    "croft exec notes --cwd src -- bash -c 'ls | wc -l'",
    'croft exec notes --secret REGISTRY_TOKEN --timeout 60 -- npm publish --dry-run',
  ],
  options: {
    agent: {
      ...{ type: 'string', value: 'NAME', completes: 'agents' },
      summary: 'run it as this agent would, in its sandbox (the only agent that has the workspace)',
    },
    sandbox: {
      ...{ type: 'string', value: 'NAME', completes: 'sandboxes' },
      summary: 'run it in this sandbox instead; where no agent has the workspace, one without network is made',
    },
    cwd: { type: 'string', value: 'DIR', summary: 'the directory, from the root of the workspace' },
    secret: {
      ...{ type: 'string', multiple: true, value: 'NAME', completes: 'secrets' },
      summary: 'a secret of the account, for the environment of this command alone',
    },
    input: {
      ...{ type: 'boolean', short: 'i' },
      summary: 'give it standard input, as text; both outputs then come as one, and nothing limits its time',
    },
    timeout: { type: 'string', value: 'SECONDS', summary: `how long it may take (280), at most ${mostSeconds}` },
  },
  takes: [2, Number.POSITIVE_INFINITY],
  words: ['workspaces', 'file'],
  failure: exitCodes.ownFailure,
  async run({ client, croft, values, words: [wanted, ...line], terminal }) {
    const timeoutSeconds = toSeconds(values.timeout);
    const { workspaceId } = await findWorkspace(client, wanted);
    const { sandbox, cwd, secret: secrets } = values;
    const agent = await chooseAgent(client, workspaceId, values);
    const box = await croft.open(workspaceId, { agent, sandbox, create: false, approvals: 'throw' });
    const request = { box, client, cwd, secrets, timeoutSeconds, terminal, hasInput: values.input ?? false };
    try {
      return await runExec({ ...request, line: line as [string, ...string[]] });
    } finally {
      // Ctrl-C has ended all requests of the command, and this one is still to be made.
      const closing = openKeyClient(values, { ...terminal, stop: AbortSignal.timeout(closeMs) });
      await closing.client
        .agent(box.agentId)
        .sessions.end(box.session)
        .catch(() => {});
    }
  },
});

function toSeconds(given = '280'): number {
  const seconds = Number(given);
  if (seconds > 0 && seconds <= mostSeconds) return seconds;
  throw new UsageError(`--timeout takes seconds, more than 0 and at most ${mostSeconds}, not ${given}`);
}
