import { defineDetector } from '../core/profile.ts';

export const go = defineDetector('go', ['go.mod', 'go.work']);
