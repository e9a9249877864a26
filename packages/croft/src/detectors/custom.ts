import { parse } from 'smol-toml';
import { parseOverrides } from '../core/projects/parse-overrides.ts';
import type { Detector } from '../core/projects/profile.ts';
import type { ProfileOverrides } from '../core/projects/profile-overrides.ts';

const maxCharacters = 64 * 1024;
const inDirectory = '.croft/config.toml';

/** Not an ecosystem: reads the project's own settings in `croft.toml`. */
export const custom: Detector = {
  language: 'custom',
  isMarker: () => false,
  detect: async () => undefined,
  async readOverrides(project) {
    const other =
      project.directories.has('.croft') || project.has('.croft') ? await project.read(inDirectory) : undefined;
    const own = project.has('croft.toml') ? await project.read('croft.toml') : undefined;
    const text = own ?? other;
    if (text === undefined)
      return project.has('croft.toml') ? ignore(at('croft.toml', project.path), 'cannot be read') : undefined;
    const file = at(own === undefined ? inDirectory : 'croft.toml', project.path);
    const overrides = readText(text, file);
    if (own === undefined || other === undefined) return overrides;
    const doubled = `${at(inDirectory, project.path)}: ignored, because ${file} is there`;
    return { ...overrides, problems: [...overrides.problems, doubled] };
  },
};

function readText(text: string, file: string): ProfileOverrides {
  if (text.length > maxCharacters) return ignore(file, `ignored, because it has over ${maxCharacters} characters`);
  try {
    return parseOverrides(parse(text), file);
  } catch (thrown) {
    const [first = ''] = (thrown instanceof Error ? thrown.message : '').split('\n');
    return ignore(file, `ignored, because it is not TOML: ${first.slice(0, 200)}`);
  }
}

function ignore(file: string, problem: string): ProfileOverrides {
  return { file, commands: {}, problems: [`${file}: ${problem}`] };
}

function at(name: string, directory: string): string {
  return directory === '' ? name : `${directory}/${name}`;
}
