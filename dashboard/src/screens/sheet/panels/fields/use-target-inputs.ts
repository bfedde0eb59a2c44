import { useQuery } from '@tanstack/react-query'
import { type Input, inputsQuery } from '../../../../api/sheet.ts'
import { overviewQuery } from '../../../../api/workflows.ts'
import { useSheet } from '../../sheet-view.ts'
import { usePanelIfAny } from './panel-context.ts'

const NONE: readonly Input[] = []

/** Returns the inputs of the sheet that a field of the panel names, if it belongs to this workflow. */
export function useTargetInputs(): readonly Input[] {
  const { sheet } = useSheet()
  const panel = usePanelIfAny()
  const field = panel?.template.inputs.find(({ kind }) => kind === 'sheet')
  const sheetId = field === undefined ? undefined : panel?.values[field.name]
  const overview = useQuery({ ...overviewQuery(sheet.workflowId), enabled: sheetId !== undefined })
  const target = overview.data?.sheets.find(({ sheet_id }) => sheet_id === sheetId)
  const inputs = useQuery({
    ...inputsQuery({ workflowId: sheet.workflowId, sheetId: target?.sheet_id ?? '' }),
    enabled: target !== undefined,
  })
  return inputs.data ?? NONE
}
