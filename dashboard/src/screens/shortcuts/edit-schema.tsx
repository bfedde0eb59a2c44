import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ShortcutVersions } from '#contract/screens.ts'
import { call } from '../../api/calls.ts'
import { send } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { Button } from '../../ui/button.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { problemWithin } from '../../ui/field-problem.ts'
import { ArrowDown, ArrowUp, X } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Checkbox, TextArea, TextField } from '../../ui/text-field.tsx'
import { notify } from '../../ui/toasts.tsx'
import { valueText } from '../../ui/value-text.ts'
import { INPUT_TYPE_CHOICES, readChoices } from '../sheet/input-types.ts'
import { versionsQuery } from './shortcut-versions.tsx'
import type { Shortcut } from './shortcut.ts'

type Input = ShortcutVersions['inputs'][number]
type Output = ShortcutVersions['outputs'][number]

/** The dialog that edits the inputs and outputs of a shortcut. Saving publishes a new version. */
export function EditSchema({ shortcut, onClose }: { shortcut: Shortcut; onClose: () => void }) {
  const versions = useQuery({ ...versionsQuery(shortcut.id), gcTime: 0 })
  if (versions.data !== undefined) {
    return <Editor shortcut={shortcut} start={versions.data} onClose={onClose} />
  }
  return (
    <Dialog open wide onClose={onClose} title="Edit schema">
      {versions.error === null ? (
        <Skeleton />
      ) : (
        <Problem error={versions.error} onRetry={() => void versions.refetch()} />
      )}
    </Dialog>
  )
}

function Editor({
  shortcut,
  start,
  onClose,
}: {
  shortcut: Shortcut
  start: ShortcutVersions
  onClose: () => void
}) {
  const [inputs, setInputs] = useState<readonly Input[]>(start.inputs)
  const [outputs, setOutputs] = useState<readonly Output[]>(start.outputs)
  const save = usePublish(shortcut, { inputs, outputs }, onClose)
  const isShown =
    problemWithin(save.error, 'inputs') !== undefined || problemWithin(save.error, 'outputs') !== undefined
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Edit schema"
      description="Saving publishes the current workflow with these inputs and outputs."
      submit={{
        label: 'Save and publish',
        onSubmit: () => save.mutate(),
        busy: save.isPending,
        disabled: outputs.length === 0,
      }}
      error={isShown ? null : save.error}
    >
      <h3 className="font-semibold">Inputs</h3>
      {inputs.map((input, place) => (
        <InputEditor
          key={input.reference}
          input={input}
          problem={(part) => problemWithin(save.error, `inputs[${place}].${part}`)}
          onChange={(next) => setInputs(inputs.with(place, next))}
          controls={
            <PositionControls
              name={input.reference}
              place={place}
              count={inputs.length}
              move={(to) => setInputs(inputs.toSpliced(place, 1).toSpliced(to, 0, input))}
              remove={() => setInputs(inputs.toSpliced(place, 1))}
            />
          }
        />
      ))}
      <h3 className="mt-2 font-semibold">Outputs</h3>
      {outputs.map((output, place) => (
        <OutputEditor
          key={output.reference}
          output={output}
          problem={(part) => problemWithin(save.error, `outputs[${place}].${part}`)}
          onChange={(next) => setOutputs(outputs.with(place, next))}
          controls={
            <PositionControls
              name={output.reference}
              place={place}
              count={outputs.length}
              move={(to) => setOutputs(outputs.toSpliced(place, 1).toSpliced(to, 0, output))}
              remove={() => setOutputs(outputs.toSpliced(place, 1))}
            />
          }
        />
      ))}
    </Dialog>
  )
}

/** Returns the mutation that publishes a new version. */
function usePublish(
  { id }: Shortcut,
  body: { inputs: readonly Input[]; outputs: readonly Output[] },
  onClose: () => void,
) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: () => send(call('POST /internal/shortcuts/:id/republish', { params: { id }, body })),
    onSuccess: async ({ warnings }) => {
      await queries.invalidateQueries({ queryKey: keys.shortcuts })
      notify(warnings[0]?.message ?? 'Published a new version')
      onClose()
    },
  })
}

function OutputEditor({
  output,
  onChange,
  problem,
  controls,
}: {
  output: Output
  onChange: (output: Output) => void
  problem: (part: string) => string | undefined
  controls: React.ReactNode
}) {
  return (
    <div
      role="group"
      aria-label={`Output ${output.reference}`}
      className="grid gap-2 rounded-md border p-3 sm:grid-cols-[1fr_1fr_auto]"
    >
      <TextField
        label="Name"
        value={output.name}
        onChange={(name) => onChange({ ...output, name })}
        problem={problem('name')}
        hint={output.reference}
      />
      <TextField
        label="Description"
        value={output.description ?? ''}
        onChange={(description) => onChange({ ...output, description })}
        problem={problem('description')}
      />
      {controls}
    </div>
  )
}

function InputEditor({
  input,
  onChange,
  problem,
  controls,
}: {
  input: Input
  onChange: (input: Input) => void
  problem: (part: string) => string | undefined
  controls: React.ReactNode
}) {
  const { defaultValue: _absent, ...withoutDefault } = input
  return (
    <div
      role="group"
      aria-label={`Input ${input.reference}`}
      className="grid gap-2 rounded-md border p-3 sm:grid-cols-[1fr_1fr_auto]"
    >
      <TextField
        label="Name"
        value={input.name}
        onChange={(name) => onChange({ ...input, name })}
        problem={problem('name')}
        hint={input.reference}
      />
      <Combobox
        label="Type"
        value={input.type}
        choices={INPUT_TYPE_CHOICES}
        onChange={(type) => {
          const { choices = [], ...rest } = input
          onChange(type === 'select' ? { ...rest, type, choices } : { ...rest, type })
        }}
        problem={problem('type')}
      />
      {controls}
      {input.type === 'select' && (
        <div className="sm:col-span-3">
          <ChoicesInput
            choices={input.choices ?? []}
            onChange={(choices) => onChange({ ...input, choices })}
            problem={problem('choices')}
          />
        </div>
      )}
      <TextField
        label="Description"
        value={input.description ?? ''}
        onChange={(description) => onChange({ ...input, description })}
        problem={problem('description')}
      />
      <TextField
        label="Default"
        value={valueText(input.defaultValue)}
        onChange={(text) =>
          onChange(text === '' ? withoutDefault : { ...input, defaultValue: readDefault(input.type, text) })
        }
        problem={problem('defaultValue')}
      />
      <div className="flex items-center sm:pt-5">
        <Checkbox
          label="Required"
          checked={input.required === true}
          onChange={(required) => onChange({ ...input, required })}
        />
      </div>
    </div>
  )
}

/** The choices of an input, one per line. The text stays as it is typed, with its blank lines. */
function ChoicesInput({
  choices,
  onChange,
  problem,
}: {
  choices: readonly string[]
  onChange: (choices: string[]) => void
  problem: string | undefined
}) {
  const [text, setText] = useState(() => choices.join('\n'))
  return (
    <TextArea
      label="Choices"
      rows={3}
      value={text}
      onChange={(typed) => {
        setText(typed)
        onChange(readChoices(typed))
      }}
      problem={problem}
      hint="One per line. The form offers them as a list."
    />
  )
}

/** Reads a default value. Text that is not a number yet stays a text, so that typing is not interrupted. */
const readDefault = (type: Input['type'], text: string): unknown =>
  type === 'number' && String(Number(text)) === text ? Number(text) : text

function PositionControls({
  name,
  place,
  count,
  move,
  remove,
}: {
  name: string
  place: number
  count: number
  move: (to: number) => void
  remove: () => void
}) {
  return (
    <div className="flex items-start sm:pt-5">
      <Button kind="ghost" icon={ArrowUp} iconOnly disabled={place === 0} onClick={() => move(place - 1)}>
        {`Move ${name} up`}
      </Button>
      <Button
        kind="ghost"
        icon={ArrowDown}
        iconOnly
        disabled={place === count - 1}
        onClick={() => move(place + 1)}
      >
        {`Move ${name} down`}
      </Button>
      <Button kind="ghost" icon={X} iconOnly onClick={remove}>
        {`Remove ${name}`}
      </Button>
    </div>
  )
}
