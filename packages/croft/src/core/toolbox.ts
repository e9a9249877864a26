import { AppError } from '@croft/protocol';
import { redactDeep } from '../lib/redact.ts';
import { cutText } from '../lib/text/cut-text.ts';
import { createCalls } from './calls.ts';
import type { Emit } from './events.ts';
import { fanOut } from './fan-out.ts';
import type { MoreTools } from './more-tools.ts';
import { type Caller, createPassage, type PassageOptions, type UnderWay } from './passage.ts';
import { mustAsk } from './permission.ts';
import { createRecorder, workspaceHint } from './recorder.ts';
import type { Session } from './session.ts';
import type { Tool, ToolResult } from './tool.ts';
import { describeTool, type ToolDescription } from './tool-description.ts';
import type { Workspace } from './workspace.ts';
import type { WorkspaceSet } from './workspace-set.ts';

export type { Caller } from './passage.ts';

export interface ToolboxOptions extends PassageOptions {
  readonly tools: readonly Tool[];
  /** Which of them are in the box. */
  offers(tool: Pick<Tool, 'name' | 'access' | 'isHarness'>): boolean;
  readonly emit: Emit;
  /** Of each session, besides these. Left out: none. */
  readonly more?: MoreTools | undefined;
}

interface Recorded extends UnderWay {
  /** Tells of a workspace that failed in a call that others answer. */
  onFailure(workspace: string, error: AppError): void;
}

const maxTextLength = 1_000_000;
/** Whatever somebody sends for a name is not sent back at length. */
const maxNameLength = 200;

/**
 * The one path every tool call takes, whichever face it came from.
 * A tool that is not allowed is not here, so it can be neither listed nor called.
 */
export function createToolbox(options: ToolboxOptions) {
  const { tools, workspaces, journal, secrets, emit, more } = options;
  const present = tools.filter(options.offers);
  const describe = createDescriptions(present, workspaces);
  const byName = new Map(present.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])].map((name) => [name, tool])));
  const calls = createCalls();
  const pass = createPassage(options);
  const record = createRecorder({ workspaces, secrets, journal, emit });

  return {
    /** Those that every session has. */
    common: describe,

    /** Those of one session, for which programs may be started. */
    async list(session: Session): Promise<readonly ToolDescription[]> {
      const further = (await more?.list(session)) ?? [];
      return [...describe(), ...further.map((tool) => describeTool(tool, workspaces))];
    },

    /** Every failure is an `AppError`. */
    call: (name: string, rawInput: unknown, caller: Caller): Promise<ToolResult> =>
      calls.run(caller.signal, (call) =>
        record({ name, rawInput, session: caller.session.id }, call, (violate, onFailure) =>
          run(name, rawInput, caller, { call, violate, onFailure }).finally(() =>
            caller.session.memory?.keep(caller.session),
          ),
        ),
      ),

    /** Whether a person may have to agree before such a call runs. */
    mayAsk(name: string): boolean {
      const tool = byName.get(name) ?? (more?.isName(name) ? ({ access: 'execute' } as const) : undefined);
      return tool !== undefined && workspaces.list().some(({ permission }) => mustAsk(permission, tool));
    },

    /** Takes no more calls, lets those under way end until the deadline, and then cancels them. */
    stop: calls.stop,
    isIdle: calls.isIdle,
  };

  async function run(name: string, rawInput: unknown, caller: Caller, under: Recorded): Promise<ToolResult> {
    const hint = workspaceHint(rawInput);
    const tool = byName.get(name) ?? (await findMore(name, hint, caller, under));
    const shown = name.slice(0, maxNameLength);
    if (!tool) throw new AppError('E_UNKNOWN_TOOL', `there is no tool named ${shown}`, { details: { tool: shown } });

    await caller.session.memory?.refresh(caller.session);
    const runIn = (workspace: Workspace) => pass({ tool, rawInput, workspace, caller, ...under });
    if (tool.reach === 'one-or-all' && workspaces.isAll(hint))
      return finish(await fanOut(workspaces.list(), runIn, under.onFailure));
    return finish(await runIn(tool.reach === 'none' ? workspaces.first() : workspaces.pick(tool.home ?? hint)));
  }

  async function findMore(name: string, workspace: unknown, { session }: Caller, { call }: UnderWay) {
    return more?.isName(name) ? more.find({ name, workspace, session, signal: call.signal }) : undefined;
  }

  /** Secrets stay secret whichever tool comes across them. */
  function finish(result: ToolResult): ToolResult {
    const { redact } = secrets;
    return cap({ ...result, text: redact(result.text), structured: redactDeep(result.structured, redact) });
  }
}

/** They name the workspaces there are, of which there may be more or fewer later. */
function createDescriptions(tools: readonly Tool[], workspaces: WorkspaceSet): () => readonly ToolDescription[] {
  let [known, descriptions]: [string | undefined, readonly ToolDescription[]] = [undefined, []];
  return () => {
    const names = workspaces.names.join('\n');
    if (names !== known) descriptions = tools.map((tool) => describeTool(tool, workspaces));
    known = names;
    return descriptions;
  };
}

function cap(result: ToolResult): ToolResult {
  if (result.text.length <= maxTextLength) return result;
  const shown = cutText(result.text, maxTextLength);
  const elided = Buffer.byteLength(result.text) - Buffer.byteLength(shown);
  return { ...result, text: `${shown}\n... (output truncated, ${elided} bytes elided)` };
}
