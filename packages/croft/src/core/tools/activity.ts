import { cutText } from '../../lib/text/cut-text.ts';
import type { Session } from '../sessions/session.ts';

/** Returns what a call is doing, in a few words. Evaluated only when somebody wants to know. */
export type Activity = () => string;

const maxLength = 300;

/** Shortens a text to one line of at most 300 characters. */
export function toActivityLine(words: string): string {
  const line = words.replaceAll(/\s+/g, ' ').trim();
  return line.length > maxLength ? `${cutText(line, maxLength)}…` : line;
}

/** Wraps a session for one call: `onActivity` learns of each program that the call starts. */
export function reportingActivity(session: Session, onActivity: (activity: Activity) => void): Session {
  const { sandboxes } = session;
  const use: typeof sandboxes.use = (name, work) => sandboxes.use(name, (sandbox) => work({ ...sandbox, onActivity }));
  return { ...session, sandboxes: { ...sandboxes, use } };
}
