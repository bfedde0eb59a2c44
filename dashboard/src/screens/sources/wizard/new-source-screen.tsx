import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { buildCurl } from '../../../api/curl.ts'
import { LoadedPage } from '../../../frame/loaded-page.tsx'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { AccountChoice } from '../account-choice.tsx'
import { describePreview, explainError, type Preview, PreviewPane } from '../preview.tsx'
import { ScheduleFields } from '../schedule-fields.tsx'
import { SourceFields } from '../source-fields.tsx'
import type { SourceForm, SourceType } from '../source-form.ts'
import { sourceTypesQuery } from '../source-types.ts'
import { MapStep } from './map-step.tsx'
import { PickStep } from './pick-step.tsx'
import { ReviewStep } from './review-step.tsx'
import { type Step, Steps } from './steps.tsx'
import { useWizard, type WizardState } from './use-wizard.ts'

/** The wizard that makes a source: pick, connect, preview, map, schedule, create. */
export function Screen() {
  const types = useQuery(sourceTypesQuery)
  const { type: chosen = '' } = useSearch({ from: '/frame/sources/new' })
  const navigate = useNavigate()
  return (
    <LoadedPage title="New source" query={types}>
      {(list) => {
        const type = list.find(({ source_id }) => source_id === chosen)
        if (type !== undefined) return <Wizard key={chosen} type={type} />
        return (
          <>
            <Steps steps={['Pick', 'Connect', 'Preview', 'Map', 'Schedule', 'Create']} current="Pick" />
            <PickStep
              types={list}
              chosen={chosen}
              onChoose={(source) => void navigate({ to: '/sources/new', search: { type: source } })}
            />
          </>
        )
      }}
    </LoadedPage>
  )
}

function Wizard({ type }: { type: SourceType }) {
  const wizard = useWizard(type)
  const { steps, step, setStep, obstacle, create } = wizard
  const navigate = useNavigate()
  const at = steps.indexOf(step)
  const go = (to: Step) => {
    create.reset()
    if (to === 'Pick') void navigate({ to: '/sources/new', search: {} })
    else setStep(to)
  }
  return (
    <form
      noValidate
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        const next = steps[at + 1]
        if (obstacle !== null) return
        if (next === undefined) create.mutate()
        else setStep(next)
      }}
    >
      <Steps steps={steps} current={step} onGo={go} />
      <h2 className="text-16 font-semibold">{`${type.name}: ${TITLES[step]}`}</h2>
      <CurrentStep wizard={wizard} />
      <Foot wizard={wizard} onBack={() => go(steps[at - 1] ?? 'Pick')} />
    </form>
  )
}

function CurrentStep({ wizard }: { wizard: WizardState }) {
  const { type, step, form, preview, fields, rows, target, name, setName, create } = wizard
  switch (step) {
    case 'Pick':
      return null
    case 'Connect':
      return <AccountChoice type={type} form={form} />
    case 'Preview':
      return <PreviewStep type={type} form={form} preview={preview} />
    case 'Map':
      return <MapStep fields={fields} rows={rows} mapping={target.mapping} onChange={wizard.changeMapping} />
    case 'Schedule':
      return <ScheduleFields type={type} form={form} />
    case 'Create':
      return (
        <ReviewStep
          type={type}
          form={form}
          name={name}
          onName={setName}
          target={target}
          error={create.error}
        />
      )
  }
}

/** The buttons of a step. They are always in view, with what keeps a person from going on. */
function Foot({ wizard, onBack }: { wizard: WizardState; onBack: () => void }) {
  const { step, preview, form, obstacle, create, buildCall } = wizard
  return (
    <div className="sticky bottom-0 -mx-4 flex flex-wrap items-center gap-2 border-t bg-bg px-4 py-3 md:-mx-6 md:px-6">
      <Button onClick={onBack}>Back</Button>
      <p
        className={classNames(
          'min-w-0 flex-1 truncate text-12',
          preview.error === null ? 'text-muted' : 'text-failed',
        )}
      >
        {obstacle ?? footText(step, preview, form)}
      </p>
      {step === 'Create' && <CopyButton label="Copy as curl" text={() => buildCurl(buildCall())} />}
      <Button type="submit" kind="primary" disabled={obstacle !== null} busy={create.isPending}>
        {step === 'Create' ? 'Create' : 'Next'}
      </Button>
    </div>
  )
}

const TITLES: Readonly<Record<Step, string>> = {
  Pick: 'what to import',
  Connect: 'the account',
  Preview: 'what to read',
  Map: 'where records go',
  Schedule: 'when to import',
  Create: 'check and create',
}

function PreviewStep({ type, form, preview }: { type: SourceType; form: SourceForm; preview: Preview }) {
  return (
    <div className="grid min-w-0 gap-6 lg:grid-cols-[minmax(280px,400px)_minmax(0,1fr)]">
      <SourceFields type={type} form={form} />
      {type.receives ? (
        <p role="status" className="text-muted">
          There is no preview: records arrive when people visit the website.
        </p>
      ) : (
        <div className="min-w-0 lg:sticky lg:top-4 lg:self-start">
          <PreviewPane preview={preview} form={form} />
        </div>
      )}
    </div>
  )
}

function footText(step: Step, preview: Preview, form: SourceForm): string {
  if (step !== 'Preview') return ''
  if (preview.error === null) return preview.rows === undefined ? '' : describePreview(preview)
  return `The preview failed. ${explainError(preview.error, form)[0] ?? ''}`
}
