import { defineDetector } from '../core/profile.ts';

export const ruby = defineDetector('ruby', ['Gemfile']);
