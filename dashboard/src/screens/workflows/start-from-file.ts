import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { call } from '../../api/calls.ts'
import { putChosenFile } from '../../api/chosen-file.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { notifyProblem } from '../../ui/toasts.tsx'

/** Creates a workflow that is named after a file, and opens its import screen with that file. */
export function useStartFromFile() {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (file: File) =>
      fetchData(call('POST /workflows', { body: { name: file.name.replace(/\.[a-z]+$/i, '') || 'Leads' } })),
    onSuccess: async ({ workflow_id: id }, file) => {
      putChosenFile(file)
      await queries.invalidateQueries({ queryKey: keys.workflows })
      await navigate({
        to: '/workflows/$workflowId/sheets/$sheetId/import',
        params: { workflowId: id, sheetId: id },
      })
    },
    onError: (error) => notifyProblem(error),
  })
}
