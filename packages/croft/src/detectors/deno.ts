import { z } from 'zod';
import { parseSettings } from '../core/projects/parse-settings.ts';
import { type Argv, type Detector, type ProjectDirectory, toScripts } from '../core/projects/profile.ts';
import { parseJsonc } from '../lib/text/jsonc.ts';
import { toPlainCommands } from '../lib/text/shell/plain-commands.ts';

const Settings = z.looseObject({ tasks: z.record(z.string(), z.unknown()).catch({}).default({}) });
type Settings = z.output<typeof Settings>;

const files = ['deno.json', 'deno.jsonc'];
/** Settings that mark a Deno project; a file without them in a Node package is there for an editor. */
const denoSettings = [
  'tasks',
  'imports',
  'importMap',
  'lint',
  'fmt',
  'test',
  'exports',
  'workspace',
  'compilerOptions',
];

export const deno: Detector = {
  language: 'deno',
  isMarker: (name) => files.includes(name),
  async detect(project) {
    const settings = await readFirst(project);
    if (project.has('package.json') && !hasDenoSettings(settings)) return undefined;
    return {
      language: 'deno',
      ecosystem: 'deno',
      directory: project.path,
      extensions: ['.js', '.mjs', '.jsx', '.ts', '.mts', '.tsx'],
      packageManager: 'deno',
      install: ['deno', 'install'],
      format: ['deno', 'fmt', '$FILES'],
      formatCheck: ['deno', 'fmt', '--check', '$FILES'],
      lint: { tool: 'deno-lint', argv: ['deno', 'lint', '$FILES'] },
      test: { tool: 'deno-test', argv: findTest(settings) },
      scripts: toScripts(Object.keys(settings?.tasks ?? {}), (name) => ['deno', 'task', name]),
    };
  },
};

async function readFirst(project: ProjectDirectory): Promise<Settings | undefined> {
  const name = files.find((file) => project.has(file)) ?? '';
  return parseSettings(await project.read(name), parseJsonc, Settings);
}

function hasDenoSettings(settings: Settings | undefined): boolean {
  return denoSettings.some((key) => {
    const value = settings?.[key];
    return typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined;
  });
}

/** Builds the test command with the permissions of the `test` task. */
function findTest(settings: Settings | undefined): Argv {
  const task = settings?.tasks.test;
  const line = typeof task === 'string' ? task : z.object({ command: z.string() }).safeParse(task).data?.command;
  const words = toPlainCommands(line ?? '').find(([program, verb]) => program === 'deno' && verb === 'test') ?? [];
  const options = words.slice(2).filter((word) => word.startsWith('-') && !word.startsWith('--watch'));
  return ['deno', 'test', ...options, '$FILES'];
}
