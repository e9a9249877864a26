import type { Detector } from '../core/projects/profile.ts';

const endings = ['.sh', '.bash'];

/**
 * Detects shell projects by settings only, or if there is no other project: nearly every workspace has a script or two.
 */
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
      // Without an `.editorconfig`, shfmt would turn everybody's spaces into tabs.
      ...(isFormatted && { format: ['shfmt', '-w', '$FILES'], formatCheck: ['shfmt', '-d', '$FILES'] }),
      scripts: {},
    };
  },
};
