import type { Detector } from '../core/projects/profile.ts';

export const zig: Detector = {
  language: 'zig',
  isMarker: (name) => name === 'build.zig',
  detect: async (project) => ({
    language: 'zig',
    ecosystem: 'zig',
    directory: project.path,
    extensions: ['.zig'],
    packageManager: 'zig',
    install: ['zig', 'build', '--fetch'],
    format: ['zig', 'fmt', '$FILES'],
    formatCheck: ['zig', 'fmt', '--check', '$FILES'],
    typecheck: { tool: 'zig-build', argv: ['zig', 'build', '--summary', 'all'] },
    test: { tool: 'zig-test', argv: ['zig', 'build', 'test'] },
    scripts: {},
    coversBelow: false,
  }),
};
