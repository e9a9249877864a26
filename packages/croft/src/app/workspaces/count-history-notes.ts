/** Reads stored histories without opening them. */
export { countNotes, type NoteCounts, workspaceOf } from '../../history/count-notes.ts';
