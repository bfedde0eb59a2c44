import { useMutation, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { type DragEvent, useEffect, useState } from 'react'
import { call } from '../../api/calls.ts'
import { takeChosenFile } from '../../api/chosen-file.ts'
import { fetchData } from '../../api/client.ts'
import { keys } from '../../api/keys.ts'
import { inputsQuery } from '../../api/sheet.ts'
import { uploadFile } from '../../api/upload.ts'
import { Page } from '../../frame/page.tsx'
import { Refusal } from '../../frame/refusal.tsx'
import { SheetLink } from '../../frame/sheet-link.tsx'
import { classNames } from '../../ui/class-names.ts'
import { FileUp } from '../../ui/icons.tsx'
import { Problem } from '../../ui/problem.tsx'
import { ProgressBar } from '../../ui/progress-bar.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { ImportMapping } from './import-mapping.tsx'
import type { Uploaded } from './mapping.ts'

export function Screen() {
  const sheet = useParams({ from: '/frame/workflows/$workflowId/sheets/$sheetId/import' })
  const inputs = useQuery(inputsQuery(sheet))
  const [sent, setSent] = useState(0)
  const [worksheet, setWorksheet] = useState<string | null>(null)
  const upload = useMutation({
    mutationFn: async (file: File): Promise<Uploaded> => {
      setSent(0)
      setWorksheet(null)
      const { file_ref } = await uploadFile(
        call('POST /files', { query: { name: file.name } }),
        file,
        setSent,
      )
      return { fileRef: file_ref, name: file.name }
    },
  })
  const { mutate } = upload
  useEffect(() => {
    const chosen = takeChosenFile()
    if (chosen !== null) mutate(chosen)
  }, [mutate])
  const fileRef = upload.data?.fileRef
  const preview = useQuery({
    queryKey: keys.file(fileRef, worksheet),
    queryFn: ({ signal }) =>
      fetchData(
        call('GET /internal/files/:file_ref/preview', {
          params: { file_ref: fileRef ?? '' },
          query: { sheet_name: worksheet ?? undefined },
        }),
        { signal },
      ),
    enabled: fileRef !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  if (inputs.error !== null && inputs.data === undefined) {
    return <Refusal error={inputs.error} title="Import" onRetry={() => void inputs.refetch()} />
  }
  return (
    <Page title="Import" actions={<SheetLink sheet={sheet} />}>
      <FileField onFile={(file) => upload.mutate(file)} name={upload.variables?.name} />
      {upload.isPending && <ProgressBar label="Upload progress" value={sent} max={upload.variables.size} />}
      {upload.error !== null && <Problem error={upload.error} />}
      {preview.error !== null && <Problem error={preview.error} onRetry={() => void preview.refetch()} />}
      {upload.data !== undefined && preview.isPending && preview.fetchStatus === 'fetching' && <Skeleton />}
      {upload.data !== undefined && preview.data !== undefined && inputs.data !== undefined && (
        <ImportMapping
          key={`${fileRef ?? ''} ${worksheet ?? ''}`}
          sheet={sheet}
          file={upload.data}
          preview={preview.data}
          inputs={inputs.data}
          worksheet={worksheet}
          onWorksheet={setWorksheet}
        />
      )}
    </Page>
  )
}

/** The file field. It covers the whole box, so that a file can be dropped anywhere on it. */
function FileField({ onFile, name }: { onFile: (file: File) => void; name: string | undefined }) {
  const [isOver, setOver] = useState(false)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    const file = event.dataTransfer.files[0]
    if (file !== undefined) onFile(file)
  }
  return (
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
      className={classNames(
        'relative flex flex-col items-center gap-1 rounded-lg border border-dashed px-6 py-8 text-center focus-within:outline-2 focus-within:outline-focus',
        isOver && 'bg-hover',
      )}
    >
      <FileUp aria-hidden className="size-6 text-muted" />
      <p className="text-14 font-semibold">{name ?? 'Drop a CSV or XLSX file here, or choose one'}</p>
      <p className="text-muted">Row 1 must contain the column headers. Any number of rows can be imported.</p>
      <input
        type="file"
        aria-label="File"
        accept=".csv,.xlsx,text/csv"
        className="absolute inset-0 cursor-pointer opacity-0"
        onChange={({ target }) => {
          const file = target.files?.[0]
          if (file !== undefined) onFile(file)
          target.value = ''
        }}
      />
    </div>
  )
}
