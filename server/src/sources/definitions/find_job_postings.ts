import { boardJobs } from '../boards/jobs.ts'
import { defineSource } from '../define.ts'
import { jobs, theirstackJobs } from '../theirstack/jobs.ts'
import { theirstackOptions } from '../theirstack/options.ts'

export default defineSource({
  slug: 'find_job_postings',
  name: 'Find job postings',
  description: 'Postings that fit, newest first: by TheirStack, or on job boards that are named.',
  mode: 'once',
  shape: jobs,
  pulls: [theirstackJobs, boardJobs],
  options: theirstackOptions,
})
