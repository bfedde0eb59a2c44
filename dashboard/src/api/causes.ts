import { useQuery } from '@tanstack/react-query'
import { type SheetId, sheetCall } from './calls.ts'
import { fetchData, LIVE } from './client.ts'
import { keys } from './keys.ts'

/** The number of causes that a screen lists. */
const SHOWN = '50'

/** Loads the causes of failed cells of a sheet, or of a run. */
export function useCauses(
  sheet: SheetId,
  { runId, enabled = true }: { runId?: string; enabled?: boolean } = {},
) {
  return useQuery({
    queryKey: keys.sheet(sheet.sheetId).causes(runId ?? ''),
    queryFn: ({ signal }) =>
      fetchData(
        sheetCall(sheet, 'GET /causes', {
          query: { limit: SHOWN, ...(runId === undefined ? {} : { run_id: runId }) },
        }),
        { signal },
      ),
    enabled,
    ...LIVE,
  })
}
