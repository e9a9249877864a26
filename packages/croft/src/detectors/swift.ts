import type { CheckCommand, Detector, Profile, ProjectDirectory } from '../core/projects/profile.ts';

export const swift: Detector = {
  language: 'swift',
  isMarker: (name) => name === 'Package.swift',
  detect: async (project) => ({
    language: 'swift',
    ecosystem: 'swift',
    directory: project.path,
    extensions: ['.swift'],
    packageManager: 'swiftpm',
    install: ['swift', 'package', 'resolve'],
    dependencyDirectory: '.build',
    ...findFormat(project),
    lint: findLint(project),
    test: { tool: 'swift-test', argv: ['swift', 'test'] },
    scripts: {},
    coversBelow: false,
  }),
};

function findLint(project: ProjectDirectory): CheckCommand | undefined {
  const isSet = project.findAbove('.swiftlint.yml', '.swiftlint.yaml') !== undefined;
  const argv = ['swiftlint', 'lint', '--quiet', '--reporter=json', '$FILES'] as const;
  return isSet ? { tool: 'swiftlint', argv } : undefined;
}

function findFormat(project: ProjectDirectory): Pick<Profile, 'format' | 'formatCheck'> {
  if (project.findAbove('.swiftformat') !== undefined) {
    return { format: ['swiftformat', '$FILES'], formatCheck: ['swiftformat', '--lint', '$FILES'] };
  }
  return {
    format: ['swift', 'format', 'format', '--in-place', '--recursive', '$FILES'],
    formatCheck: ['swift', 'format', 'lint', '--strict', '--recursive', '$FILES'],
  };
}
