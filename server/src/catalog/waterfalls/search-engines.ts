import { braveSearch } from '../providers/brave/search.ts'
import { exaSearch } from '../providers/exa/search.ts'
import { searxngSearch } from '../providers/searxng/search.ts'
import { serperSearch } from '../providers/serper/search.ts'
import { tavilySearch } from '../providers/tavily/search.ts'

/** Who searches the web. */
export const ENGINES = [searxngSearch, serperSearch, braveSearch, tavilySearch, exaSearch]
