import type { Detector } from '../core/projects/profile.ts';

const endings = ['.sh', '.bash'];

/** Nearly every workspace has a script or two, so only settings say that somebody cares, or that there is nothing else. */
export const shell: Detector = {
  language: 'shell',
  aliases: ['sh', 'bash'],
  isMarker: (name) => name === '.shellcheckrc' || name === 'shellcheckrc',
  isTrace: (name) => endings.some((ending) => name.endsWith(ending)),
  async detect(project) {
    const all = project.filesBelow(endings);
    if (all.length === 0) return undefined;
    const isFormatted = project.findAbove('.editorconfig') !== undefined;
    return {
      language: 'shell',
      ecosystem: 'shell',
      directory: project.path,
      extensions: endings,
      lint: { tool: 'shellcheck', argv: ['shellcheck', '$FILES'], all },
      // Without its settings there it would make tabs of everybody's spaces.
      ...(isFormatted && { format: ['shfmt', '-w', '$FILES'], formatCheck: ['shfmt', '-d', '$FILES'] }),
      scripts: {},
    };
  },
};
