import { defineDetector } from '../core/profile.ts';

export const dotnet = defineDetector('dotnet', ['global.json'], /\.(?:sln|slnx|csproj|fsproj)$/);
