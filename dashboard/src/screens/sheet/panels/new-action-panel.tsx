import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { templateQuery } from '../../../api/catalogue.ts'
import { isRecord } from '../tokens.ts'
import { ActionForm } from './action-form.tsx'
import { LoadingPanel } from './action-panel.tsx'
import { readJson } from './fields/values.ts'

/** The panel of an action that its first save adds to the sheet. Until then nothing is stored. */
export default function NewActionPanel({
  template: id,
  after,
  given,
}: {
  template: string
  after: string | null
  /** The inputs that are filled already, as JSON. */
  given: string | null
}) {
  const template = useQuery(templateQuery(id))
  const name = template.data?.name ?? ''
  const saved = useMemo(() => ({ display_name: name, inputs: {}, next: [] }), [name])
  if (template.data === undefined) {
    return <LoadingPanel name="New action" error={template.error} onRetry={() => void template.refetch()} />
  }
  return (
    <ActionForm
      node={null}
      saved={saved}
      warnings={[]}
      template={template.data}
      after={after}
      suggested={readInputs(given)}
    />
  )
}

function readInputs(given: string | null): Record<string, unknown> {
  const read = readJson(given ?? '')
  return read.ok && isRecord(read.value) ? read.value : {}
}
