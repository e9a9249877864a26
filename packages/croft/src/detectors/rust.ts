import { parse } from 'smol-toml';
import { z } from 'zod';
import { formatWholeOrFiles } from '../core/projects/format-whole-or-files.ts';
import { parseSettings } from '../core/projects/parse-settings.ts';
import { type Argv, type Detector, type ProjectDirectory, toScripts } from '../core/projects/profile.ts';

const Edition = z.string().regex(/^\d{4}$/);
const Shared = z.object({ edition: Edition }).optional().catch(undefined);
const Manifest = z.object({
  package: z
    .object({
      edition: z
        .union([Edition, z.object({ workspace: z.literal(true) })])
        .optional()
        .catch(undefined),
    })
    .optional()
    .catch(undefined),
  workspace: z.object({ package: Shared }).optional().catch(undefined),
  lib: z.unknown().optional(),
});
type Manifest = z.output<typeof Manifest>;
const Config = z.object({ alias: z.record(z.string(), z.unknown()).catch({}).default({}) });

const json = '--message-format=json';

export const rust: Detector = {
  language: 'rust',
  aliases: ['rs', 'cargo'],
  isMarker: (name) => name === 'Cargo.toml',
  async detect(project) {
    const manifest = await readManifest(project, 'Cargo.toml');
    // Without `--workspace`, only the package at the root of a workspace is checked.
    const reach = manifest?.workspace ? ['--workspace'] : [];
    const targets = await findTargets(project, manifest);
    return {
      language: 'rust',
      ecosystem: 'rust',
      directory: project.path,
      extensions: ['.rs'],
      packageManager: 'cargo',
      install: ['cargo', 'fetch'],
      ...toFormat(await findEdition(project, manifest)),
      // Cargo takes no files: clippy would pass them to rustc as options, and `cargo test` would take them for test
      // names.
      lint: { tool: 'clippy', argv: ['cargo', 'clippy', ...reach, ...targets, json] },
      typecheck: { tool: 'cargo-check', argv: ['cargo', 'check', ...reach, ...targets, json] },
      test: { tool: 'cargo-test', argv: ['cargo', 'test', ...reach] },
      scripts: toScripts(await findAliases(project), (name) => ['cargo', name]),
      coversBelow: manifest?.workspace !== undefined,
    };
  },
};

async function readManifest(project: ProjectDirectory, name: string): Promise<Manifest | undefined> {
  return parseSettings(await project.read(name), parse, Manifest);
}

const maxBenches = 50;

/**
 * Returns all targets, but without benches if one of them needs unstable features: Rust's own bench harness is
 * unstable, and with it every check by a stable compiler would fail that passes for the project's people.
 */
async function findTargets(project: ProjectDirectory, manifest: Manifest | undefined): Promise<readonly string[]> {
  const sources = project.filesBelow(['.rs']);
  const benches = sources.filter((file) => /(?:^|\/)benches\//.test(file)).slice(0, maxBenches);
  const texts = await Promise.all(benches.map((file) => project.read(file)));
  if (!texts.some((text) => /^\s*#!\[feature\(/m.test(text ?? ''))) return ['--all-targets'];
  const hasLibrary = manifest?.lib !== undefined || sources.some((file) => /(?:^|\/)src\/lib\.rs$/.test(file));
  return [...(hasLibrary ? ['--lib'] : []), '--bins', '--examples', '--tests'];
}

/** Returns the edition. Without it, rustfmt assumes 2015, in which `async fn` is an error. */
async function findEdition(project: ProjectDirectory, manifest: Manifest | undefined): Promise<string> {
  const edition = manifest?.package?.edition;
  if (typeof edition === 'string') return edition;
  const shared = manifest?.workspace?.package?.edition;
  if (shared !== undefined) return shared;
  return edition === undefined ? '2015' : ((await findShared(project)) ?? '2015');
}

/** Returns the edition of the workspace around the package. */
async function findShared(project: ProjectDirectory): Promise<string | undefined> {
  for (let up = '..'; up.split('/').length <= project.path.split('/').length; up += '/..') {
    const edition = (await readManifest(project, `${up}/Cargo.toml`))?.workspace?.package?.edition;
    if (edition !== undefined) return edition;
  }
  return undefined;
}

function toFormat(edition: string): { format: Argv; formatCheck: Argv } {
  const rustfmt: Argv = ['rustfmt', '--edition', edition];
  return {
    format: formatWholeOrFiles(['cargo', 'fmt'], rustfmt),
    formatCheck: formatWholeOrFiles(['cargo', 'fmt', '--check'], [...rustfmt, '--check']),
  };
}

async function findAliases(project: ProjectDirectory): Promise<string[]> {
  if (!project.directories.has('.cargo')) return [];
  const text = (await project.read('.cargo/config.toml')) ?? (await project.read('.cargo/config'));
  return Object.keys(parseSettings(text, parse, Config)?.alias ?? {});
}
