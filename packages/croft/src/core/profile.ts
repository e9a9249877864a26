import type { Files } from './files.ts';

/** A program with its arguments, in which `$FILES` as a whole argument stands for the files that are asked for. */
export type Argv = readonly [string, ...string[]];

/** A program, and the tool that it is: a runner or a linter of that name knows how to ask it and what it answers. */
export interface Check {
  readonly tool: string;
  readonly argv: Argv;
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
  detect(project: ProjectDirectory): Promise<Profile | undefined>;
}

export type OpenProject = (files: Files, path: string) => Promise<ProjectDirectory>;
