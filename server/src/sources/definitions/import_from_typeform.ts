import { defineSource } from '../define.ts'
import { typeformOptions } from '../systems/typeform/form.ts'
import { responses, submittedResponses } from '../systems/typeform/responses.ts'

export default defineSource({
  slug: 'import_from_typeform',
  name: 'Import from Typeform',
  description: 'Answers to a form, by the titles of its questions; on a schedule, new ones.',
  mode: 'either',
  shape: responses,
  pulls: [submittedResponses],
  options: typeformOptions,
})
