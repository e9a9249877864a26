import { defineDetector } from '../core/profile.ts';

export const php = defineDetector('php', ['composer.json']);
