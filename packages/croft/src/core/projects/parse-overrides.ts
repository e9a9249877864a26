import { z } from 'zod';
import { guessCheckTool, lintToolNames, testToolNames } from './guess-check-tool.ts';
import type { Argv, CheckCommand } from './profile.ts';
import type { OverriddenCommands, ProfileOverrides } from './profile-overrides.ts';

const maxProblems = 20;
const maxArguments = 200;
const example = '["pytest", "-q", "$FILES"]';

const Word = z
  .string()
  .max(4096)
  .refine((word) => !word.includes('\0'));
const ArgvSetting = z.tuple([Word.min(1)], Word).refine((argv) => argv.length <= maxArguments);
const CheckSetting = z.strictObject({ argv: ArgvSetting, tool: z.string().optional() });
const Language = z
  .string()
  .transform((name) => name.trim().toLowerCase())
  .refine((name) => /^[a-z][a-z0-9+#._-]{0,39}$/.test(name) && name !== 'all');
const Extensions = z.array(z.string().regex(/^\.[\w.+-]{1,30}$/)).max(50);

type Found = { -readonly [Key in keyof OverriddenCommands]?: OverriddenCommands[Key] | undefined };

const plainCommands: Readonly<Record<string, 'install' | 'format' | 'formatCheck'>> = {
  install: 'install',
  format: 'format',
  format_check: 'formatCheck',
};
const checks: Readonly<Record<string, 'lint' | 'typecheck' | 'test'>> = {
  lint: 'lint',
  typecheck: 'typecheck',
  test: 'test',
};

/** Parses `croft.toml`. Invalid keys are dropped one by one and reported as problems. Never throws. */
export function parseOverrides(data: unknown, file: string): ProfileOverrides {
  const problems: string[] = [];
  const tell = (text: string) => {
    if (problems.length < maxProblems) problems.push(`${file}: ${text}`);
  };
  const tables = entriesOf(data);
  for (const [name, value] of tables) {
    if (name !== 'commands' && name !== 'project') tell(refuse(name));
    else if (!isTable(value)) tell(`${name} must be a table; it is ignored`);
  }
  const named = Object.fromEntries(tables);
  const commands = parseCommands(entriesOf(named.commands), tell);
  return { file, ...parseProject(entriesOf(named.project), tell), commands, problems };
}

type Tell = (text: string) => void;

function refuse(name: string): string {
  if (name === 'sandbox') return '[sandbox] is refused: only the operator’s flags set what a sandbox may reach';
  return `${show(name)} is not known; there are [project] and [commands]`;
}

function parseProject(entries: readonly Entry[], tell: Tell): Pick<ProfileOverrides, 'language' | 'extensions'> {
  const known: Record<string, unknown> = {};
  for (const [name, value] of entries) {
    const schema = { language: Language, extensions: Extensions }[name];
    const parsed = schema?.safeParse(value);
    if (parsed?.success) known[name] = parsed.data;
    else if (name === 'language') tell('project.language must be a name such as "go"; it is ignored');
    else if (name === 'extensions') tell('project.extensions must be an array such as [".go"]; it is ignored');
    else tell(`project.${show(name)} is not known; there are language and extensions`);
  }
  return known;
}

function parseCommands(entries: readonly Entry[], tell: Tell): OverriddenCommands {
  const found: Found = {};
  for (const [name, value] of entries) {
    const plain = Object.hasOwn(plainCommands, name) ? plainCommands[name] : undefined;
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (plain) found[plain] = parseArgv(name, value, tell);
    else if (check) found[check] = parseCheck(name, value, tell);
    else
      tell(
        `commands.${show(name)} is not known; there are ${[...Object.keys(plainCommands), ...Object.keys(checks)].join(', ')}`,
      );
  }
  return Object.fromEntries(Object.entries(found).filter(([, command]) => command !== undefined));
}

function parseArgv(name: string, value: unknown, tell: Tell): Argv | undefined {
  const parsed = ArgvSetting.safeParse(value);
  if (parsed.success) return parsed.data;
  const why = typeof value === 'string' ? 'a line for a shell is not run' : 'it is ignored';
  tell(`commands.${name} must be an array of a program and its arguments, such as ${example}; ${why}`);
  return undefined;
}

function parseCheck(name: string, value: unknown, tell: Tell): CheckCommand | undefined {
  const table = CheckSetting.safeParse(value);
  if (isTable(value) && !table.success) {
    tell(`commands.${name} must have \`argv\`, an array such as ${example}, and may have \`tool\`; it is ignored`);
    return undefined;
  }
  const argv = table.success ? table.data.argv : parseArgv(name, value, tell);
  return argv && withTool(name, argv, { tool: table.data?.tool, tell });
}

function withTool(
  name: string,
  argv: Argv,
  { tool, tell }: { tool: string | undefined; tell: Tell },
): CheckCommand | undefined {
  const known = name === 'test' ? testToolNames : lintToolNames;
  const found = tool ?? guessCheckTool(argv, known) ?? (name === 'test' ? 'script' : undefined);
  if (found !== undefined && known.includes(found)) return { tool: found, argv };
  const what =
    tool === undefined
      ? `needs \`tool\`, the name of the reader for the output of ${show(argv[0])}`
      : `has an unknown tool ${show(tool)}`;
  tell(`commands.${name} ${what}; there are ${known.join(', ')}; it is ignored`);
  return undefined;
}

type Entry = readonly [name: string, value: unknown];

function entriesOf(value: unknown): readonly Entry[] {
  return isTable(value) ? Object.entries(value) : [];
}

function isTable(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Quotes a name, which may hold any text. */
function show(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}
