import { z } from 'zod'
import { getExtension, explainFileName } from './imports.ts'
import { Name } from './text.ts'

export const UploadQuery = z.strictObject({
  name: Name.refine((name) => getExtension(name) !== undefined, {
    error: ({ input }) =>
      explainFileName(String(input), 'must be the name of a file that ends in .csv or .xlsx'),
  }).describe('The file name; its extension gives the file type'),
})

export const StoredFile = z
  .object({
    file_ref: z.string().describe('The reference that Import CSV takes'),
    size_bytes: z.int(),
  })
  .meta({ id: 'StoredFile' })
