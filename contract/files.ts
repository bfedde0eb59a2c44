import { z } from 'zod'
import { extensionOf, refuseFileName } from './imports.ts'
import { Name } from './text.ts'

export const UploadQuery = z.strictObject({
  name: Name.refine((name) => extensionOf(name) !== undefined, {
    error: ({ input }) =>
      refuseFileName(String(input), 'must be the name of a file that ends in .csv or .xlsx'),
  }).describe('What the file is called; its ending says what it is'),
})

export const StoredFile = z
  .object({
    file_ref: z.string().describe('What Import CSV takes'),
    size_bytes: z.int(),
  })
  .meta({ id: 'StoredFile' })
