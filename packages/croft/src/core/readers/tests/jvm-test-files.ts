import type { JunitCase } from '../../../lib/reports/junit.ts';

/**
 * Returns the source file of a test: the file name from the stack trace, in the directory where Gradle and Maven expect
 * the package's tests.
 */
export function toJvmFile({ className, text }: JunitCase): string | undefined {
  const [outer = ''] = className.split('$');
  const simple = outer.slice(outer.lastIndexOf('.') + 1);
  const ending = ['java', 'kt', 'groovy', 'scala'].find((one) => text.includes(`(${simple}.${one}:`));
  if (ending === undefined || simple === '') return undefined;
  const root = ending === 'kt' ? 'kotlin' : ending;
  return `src/test/${root}/${outer.replaceAll('.', '/')}.${ending}`;
}

/** Returns the class that a file is named after. */
export function toJvmClass(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1).replace(/\.\w+$/, '');
}
