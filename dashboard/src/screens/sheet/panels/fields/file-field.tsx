import { useMutation } from '@tanstack/react-query'
import { call } from '../../../../api/calls.ts'
import { uploadFile } from '../../../../api/upload.ts'
import { Problem } from '../../../../ui/problem.tsx'
import type { FieldProps } from './panel-context.ts'
import { TextInput } from './text-field.tsx'

/** A file: uploaded here, or named by a column. */
export function FileField({ text, ...props }: FieldProps & { text: string }) {
  const { field, onChange } = props
  const upload = useMutation({
    mutationFn: (file: File) =>
      uploadFile(call('POST /files', { query: { name: file.name } }), file, () => {}),
    onSuccess: ({ file_ref }) => onChange(file_ref),
  })
  return (
    <div className="flex flex-col gap-1">
      <TextInput {...props} text={text} />
      <input
        type="file"
        aria-label={`Upload ${field.label}`}
        disabled={upload.isPending}
        onChange={({ target }) => {
          const file = target.files?.[0]
          if (file !== undefined) upload.mutate(file)
        }}
        className="text-12"
      />
      {upload.error !== null && <Problem error={upload.error} />}
    </div>
  )
}
