import { Croft } from '@croft/sdk';
import { aiTools } from '@croft/sdk/ai';
import { generateText, stepCountIs } from 'ai';

const croft = new Croft();
await using box = await croft.open('notes');
const { tools, toolApproval, instructions } = await aiTools(box);
const { text } = await generateText({
  ...{ model: 'anthropic/claude-sonnet-4.5', tools, toolApproval, instructions },
  prompt: 'Write hello to greeting.txt, and look whether it is there.',
  stopWhen: stepCountIs(20),
});
console.log(text);
