import { defineDetector } from '../core/profile.ts';

export const cpp = defineDetector('cpp', ['CMakeLists.txt', 'meson.build', 'Makefile']);
