import type { AgentFence, AgentTool, CallOutlook } from '@croft/protocol';
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import { Failure, Loaded } from '../../parts/loading-states.tsx';
import { Marked } from '../../parts/marked-text.tsx';
import { useAction } from '../../parts/use-action.ts';
import { callTool } from '../../server/call-tool.ts';
import { RequestError, request, segment } from '../../server/request.ts';
import { useResource } from '../../server/use-resource.ts';
import { toCount } from '../../text/format-times-and-sizes.ts';
import { type FormField, toFormFields, toInput } from './tool-form.ts';

type Tool = z.output<typeof AgentTool>;

type Outlook = Pick<CallOutlook, 'outcome' | 'reason' | 'approval' | 'error'>;

/** A form that says what a call would do, and runs it if the person wants that. */
export function TryCall({ id, fence }: { readonly id: string; readonly fence: AgentFence }) {
  const tools = useResource<{ tools: readonly Tool[] }>(`/v1/agents/${segment(id)}/tools`);
  return (
    <section class="try" aria-label="Try a call">
      <h2>Try a call</h2>
      <Loaded from={tools} rows={3}>
        {({ tools: found }) =>
          found.length === 0 ? (
            <p class="muted">This agent has no tools.</p>
          ) : (
            <TryForm id={id} tools={found} fence={fence} />
          )
        }
      </Loaded>
    </section>
  );
}

function TryForm({
  id,
  tools,
  fence,
}: {
  readonly id: string;
  readonly tools: readonly Tool[];
  readonly fence: AgentFence;
}) {
  const [name, setName] = useState(tools.find((tool) => tool.name === 'bash')?.name ?? tools[0]?.name ?? '');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [outlook, setOutlook] = useState<Outlook | undefined>(undefined);
  const [output, setOutput] = useState('');
  const tool = tools.find((known) => known.name === name);
  const fields = tool ? toFormFields(tool.inputSchema) : [];
  const [needed, others] = divide(fields);
  const path = `/v1/agents/${segment(id)}/tools/${segment(name)}`;
  const toElement = (field: FormField) => (
    <Field
      key={field.name}
      field={field}
      value={values[field.name] ?? ''}
      choices={field.name === 'workspace' ? fence.workspaces.map(({ name: workspace }) => workspace) : field.choices}
      onChange={(value) => {
        setValues({ ...values, [field.name]: value });
        setOutlook(undefined);
      }}
    />
  );
  const ask = useAction(async () => {
    setOutput('');
    setOutlook(await request<Outlook>('POST', `${path}/ask`, { body: toInput(fields, values) }));
  });
  const run = useAction(async () => {
    setOutput('');
    const approvalId = outlook?.approval?.approvalId;
    const end = await callTool({
      agentId: id,
      tool: name,
      input: toInput(fields, values),
      approvalId,
      onOutput: setOutput,
    });
    if (end.type === 'approval')
      setOutlook({ outcome: 'asks', reason: 'A person has to agree first.', approval: end.approval });
    else setOutput(JSON.stringify(end.result, null, 2));
  });
  return (
    <form
      class="try-form"
      onSubmit={(event) => {
        event.preventDefault();
        ask.run();
      }}
    >
      <div class="field">
        <label for="try-tool">Tool</label>
        <select
          id="try-tool"
          value={name}
          onChange={(event) => {
            setName(event.currentTarget.value);
            setOutlook(undefined);
            setOutput('');
          }}
        >
          {tools.map((known) => (
            <option key={known.name}>{known.name}</option>
          ))}
        </select>
      </div>
      {needed.map(toElement)}
      {others.length > 0 && (
        <details class="more-fields">
          <summary>{toCount(others.length, 'more argument')}</summary>
          {others.map(toElement)}
        </details>
      )}
      <div class="actions">
        <button type="submit" class="button button-primary" disabled={ask.isRunning}>
          What would happen?
        </button>
        <button
          type="button"
          class="button"
          disabled={run.isRunning || outlook?.outcome === 'refused'}
          onClick={() => run.run()}
        >
          {run.isRunning ? 'Running…' : 'Run it'}
        </button>
      </div>
      {outlook && <OutlookLine outlook={outlook} />}
      {(ask.error ?? run.error) && <Failure error={(ask.error ?? run.error) as RequestError} />}
      {output !== '' && (
        <pre class="output" tabIndex={0} role="group" aria-label="Result">
          <Marked text={output} />
        </pre>
      )}
    </form>
  );
}

/** The arguments that a call needs, and the others. The workspace is always shown: it decides the rules. */
function divide(fields: readonly FormField[]): readonly [FormField[], FormField[]] {
  const isShown = ({ isRequired, name }: FormField) => isRequired || name === 'workspace';
  const needed = fields.filter(isShown);
  return needed.length === 0 ? [[...fields], []] : [needed, fields.filter((field) => !isShown(field))];
}

const outcomes = { runs: 'It would run', asks: 'It would ask', refused: 'It would be refused' } as const;

function OutlookLine({ outlook }: { readonly outlook: Outlook }) {
  const { outcome, reason, approval, error } = outlook;
  return (
    <div class={`outlook outlook-${outcome}`} role="status">
      <p>
        <strong>{outcomes[outcome]}</strong>: <Marked text={reason} />
      </p>
      {approval && (
        <p>
          <a href={`/approvals/${approval.approvalId}`}>
            {approval.state === 'pending' ? 'Decide it' : `It is ${approval.state}`}
          </a>
        </p>
      )}
      {error && <Failure error={new RequestError(error)} />}
    </div>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly choices: readonly string[] | undefined;
  onChange(value: string): void;
}

function Field({ field, value, choices, onChange }: FieldProps) {
  const id = `try-${field.name}`;
  return (
    <div class="field">
      <label for={id} title={field.about}>
        {field.name}
        {field.isRequired && <span class="required"> needed</span>}
      </label>
      {choices ? (
        <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">–</option>
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : field.isLong ? (
        <textarea
          id={id}
          class="mono"
          rows={3}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <input id={id} class="mono" value={value} onInput={(event) => onChange(event.currentTarget.value)} />
      )}
    </div>
  );
}
