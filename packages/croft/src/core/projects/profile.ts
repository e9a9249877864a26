import type { ProfileOverrides } from './profile-overrides.ts';

/** A program with its arguments. The argument `$FILES` stands for the requested files. */
export type Argv = readonly [string, ...string[]];

/** A check command. The test runner or linter named `tool` extends the command and reads its output. */
export interface CheckCommand {
  readonly tool: string;
  readonly argv: Argv;
  /** Replaces `$FILES` if no files are requested and the tool takes files but no directory. */
  readonly all?: readonly string[] | undefined;
  /** The tool's own settings say which files it checks: `$FILES` becomes nothing if no files are requested. */
  readonly isConfigured?: true | undefined;
  /** Files that the project's script names. They run unless other files are requested, which replace them. */
  readonly named?: readonly NamedFile[] | undefined;
  /** The project's own command for all of it, if that does more than `argv`. */
  readonly whole?: Omit<CheckCommand, 'whole'> | undefined;
  /** The tool is the last of several steps: if it prints nothing, the exit code of all steps decides. */
  readonly isOneOfSeveral?: true | undefined;
}

/** A file, directory or pattern in the line of a script. */
export interface NamedFile {
  readonly text: string;
  /** Unquoted: a shell would expand the pattern before the program sees it. */
  readonly isForShell: boolean;
}

/** One project of a workspace: what it is made of, and its commands. Detected without the network. */
export interface Profile {
  /** The name that `language` selects: `node`, `python`, `go`, … */
  readonly language: string;
  /** In more detail: `typescript`, `deno`, `cmake`, … */
  readonly ecosystem: string;
  /** Directory in the workspace; `''` is the root. Commands start there, and their paths are relative to it. */
  readonly directory: string;
  /** Extensions of the files that format, lint and typecheck are about: `.ts`. */
  readonly extensions: readonly string[];
  readonly packageManager?: string | undefined;
  readonly install?: Argv | undefined;
  readonly dependencyDirectory?: string | undefined;
  /** Formatter that rewrites files. */
  readonly format?: Argv | undefined;
  /** Reports what `format` would change, and fails if it would. */
  readonly formatCheck?: Argv | undefined;
  readonly lint?: CheckCommand | undefined;
  readonly typecheck?: CheckCommand | undefined;
  readonly test?: CheckCommand | undefined;
  /** Commands by script name, as a person would run them. */
  readonly scripts: Readonly<Record<string, Argv>>;
  /** `false`: its checks do not cover projects of the same language below it, as in a Go module. */
  readonly coversBelow?: boolean | undefined;
  /** Problems in its settings, as text for people. */
  readonly problems?: readonly string[] | undefined;
}

/** A directory that may be a project, read through `Files` like everything else. */
export interface ProjectDirectory {
  /** `''` is the root of the workspace. */
  readonly path: string;
  /** Names of files, links included. */
  readonly names: ReadonlySet<string>;
  readonly directories: ReadonlySet<string>;
  /** Whether one of these files exists. */
  has(...names: readonly string[]): boolean;
  /**
   * Returns the nearest of these files, here or in the directories above up to the root, as a path for `read`:
   * `../biome.json`.
   */
  findAbove(...names: readonly string[]): string | undefined;
  /** Files with these endings here and in the listed directories below. At most a few hundred. */
  filesBelow(endings: readonly string[]): readonly string[];
  /** Returns the text of a file; `undefined` if it does not exist, is not text or is too large. */
  read(name: string): Promise<string | undefined>;
  /**
   * Finds a program that the project has installed, such as `node_modules/.bin/eslint`, here and in the directories
   * above up to the root; otherwise returns its bare name, for the PATH. Never one that would have to be downloaded.
   */
  findProgram(paths: readonly string[], name: string): Promise<string>;
}

/** Detects projects of one language by their files. */
export interface Detector {
  readonly language: string;
  /** Other names that callers use for it: `typescript`, `js`. */
  readonly aliases?: readonly string[];
  isMarker(name: string): boolean;
  /** Marks a project unless one of the same language is around it: a `ruff.toml` among the tests is no project. */
  isHint?(name: string): boolean;
  /** Counts only in a workspace without any other project: one script makes no shell project. */
  isTrace?(name: string): boolean;
  detect(project: ProjectDirectory): Promise<Profile | undefined>;
  /** Reads the project's own settings, which override what is detected. */
  readOverrides?(project: ProjectDirectory): Promise<ProfileOverrides | undefined>;
}

const maxScripts = 200;
const maxScriptName = 100;

/**
 * Builds scripts by name. Names come from files of the workspace: one that a program would take for an option is
 * dropped.
 */
export function toScripts(names: readonly string[], toArgv: (name: string) => Argv): Readonly<Record<string, Argv>> {
  const usable = names.filter((name) => name.length <= maxScriptName && /^[\w@:.+/][\w@:.+/ -]*$/.test(name));
  return Object.fromEntries(usable.slice(0, maxScripts).map((name) => [name, toArgv(name)]));
}
