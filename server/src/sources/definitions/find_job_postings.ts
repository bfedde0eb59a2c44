import { defineSource } from '../define.ts'
import { boardJobs } from '../systems/boards/jobs.ts'
import { jobs, theirstackJobs } from '../systems/theirstack/jobs.ts'
import { theirstackOptions } from '../systems/theirstack/options.ts'

export default defineSource({
  slug: 'find_job_postings',
  name: 'Find job postings',
  description: 'Job postings that match, newest first: by TheirStack, or on given job boards.',
  mode: 'once',
  shape: jobs,
  pulls: [theirstackJobs, boardJobs],
  options: theirstackOptions,
})
