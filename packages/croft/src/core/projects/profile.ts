import type { Overrides } from './profile-overrides.ts';

/** A program with its arguments, in which `$FILES` as a whole argument stands for the files that are asked for. */
export type Argv = readonly [string, ...string[]];

/** A program, and the tool that it is: a runner or a linter of that name knows how to ask it and what it answers. */
export interface Check {
  readonly tool: string;
  readonly argv: Argv;
  /** What `$FILES` stands for when none are asked for, where the tool takes files and no directory. */
  readonly all?: readonly string[] | undefined;
  /** What a script of the project names itself: that is run unless other files are asked for, which take its place. */
  readonly named?: readonly NamedFile[] | undefined;
}

/** A file, a directory or a pattern in the line of a script. */
export interface NamedFile {
  readonly text: string;
  /** Without quotes: a shell would put the files in its place before the program sees it. */
  readonly isForShell: boolean;
}

/** One project of a workspace: what it is made of, and which programs fit it. Nothing here was asked of the network. */
export interface Profile {
  /** What `language` picks by: `node`, `python`, `go`, … */
  readonly language: string;
  /** In more detail: `typescript`, `deno`, `cmake`, … */
  readonly ecosystem: string;
  /** Where it is in the workspace; `''` is the root. Commands start there, and paths in them are from there. */
  readonly directory: string;
  /** The files its format, lint and typecheck are about, by the end of their names: `.ts`. */
  readonly extensions: readonly string[];
  readonly packageManager?: string | undefined;
  readonly install?: Argv | undefined;
  readonly dependencyDirectory?: string | undefined;
  /** Rewrites files. */
  readonly format?: Argv | undefined;
  /** Says what `format` would change, and fails if it would. */
  readonly formatCheck?: Argv | undefined;
  readonly lint?: Check | undefined;
  readonly typecheck?: Check | undefined;
  readonly test?: Check | undefined;
  /** By name, as a person would run them. */
  readonly scripts: Readonly<Record<string, Argv>>;
  /** `false` where its checks leave out projects of its language below it, as those of a Go module do. */
  readonly coversBelow?: boolean | undefined;
  /** What is wrong with a `croft.toml`, for people. */
  readonly problems?: readonly string[] | undefined;
}

/** A directory that may be a project, read through `Files` like everything else. */
export interface ProjectDirectory {
  /** `''` is the root of the workspace. */
  readonly path: string;
  /** Of its files, links included. */
  readonly names: ReadonlySet<string>;
  readonly directories: ReadonlySet<string>;
  /** Whether one of these is there. */
  has(...names: readonly string[]): boolean;
  /** The nearest of these files here or in the directories above up to the root, as `read` takes it: `../biome.json`. */
  findAbove(...names: readonly string[]): string | undefined;
  /** Files here and in the directories below that were looked at, by the end of their names. Not more than a few hundred. */
  filesBelow(endings: readonly string[]): readonly string[];
  /** The text of a file, or nothing if it is not there, not text or too large. */
  read(name: string): Promise<string | undefined>;
  /**
   * A program that the project brings along, such as `node_modules/.bin/eslint`, looked for here and in the directories
   * above up to the root; otherwise its bare name, for the PATH. Never one that would have to be fetched.
   */
  findProgram(places: readonly string[], name: string): Promise<string>;
}

/** Knows one language by the files that mark it. */
export interface Detector {
  readonly language: string;
  /** Other names that callers use for it: `typescript`, `js`. */
  readonly aliases?: readonly string[];
  isMarker(name: string): boolean;
  /** Says as much, unless a project of the language is around it: a `ruff.toml` among the tests is no project. */
  isHint?(name: string): boolean;
  /** Counts only in a workspace that has nothing else: one script makes no shell project. */
  isTrace?(name: string): boolean;
  detect(project: ProjectDirectory): Promise<Profile | undefined>;
  /** What people say of the project themselves, which counts over what is found. */
  readOverrides?(project: ProjectDirectory): Promise<Overrides | undefined>;
}

const maxScripts = 200;
const maxScriptName = 100;

/** Names come from files of the workspace: one that a program would take for an option is left out. */
export function toScripts(names: readonly string[], toArgv: (name: string) => Argv): Readonly<Record<string, Argv>> {
  const usable = names.filter((name) => name.length <= maxScriptName && /^[\w@:.+/][\w@:.+/ -]*$/.test(name));
  return Object.fromEntries(usable.slice(0, maxScripts).map((name) => [name, toArgv(name)]));
}
