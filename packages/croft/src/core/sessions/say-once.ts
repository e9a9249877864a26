import type { Session } from './session.ts';

/** Returns the text only the first time for this workspace in this session. */
export function sayOnce({ saidOnce }: Pick<Session, 'saidOnce'>, workspace: string, text: string): string[] {
  const key = `${workspace}: ${text}`;
  if (saidOnce.has(key)) return [];
  saidOnce.add(key);
  return [text];
}
