//! All tables of a run. Their order here is their order everywhere.

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;

use super::*;

macro_rules! tables {
    ($( $field:ident : $Row:ty ),* $(,)?) => {
        /// The rows of one run (or, inside an importer, of one artifact).
        #[derive(Debug, Default, Clone)]
        pub struct Tables {
            $( pub $field: <$Row as TableRow>::Rows, )*
        }

        impl Tables {
            /// What each table is, in order.
            pub fn descriptors() -> Vec<Descriptor> {
                vec![ $( <$Row as TableRow>::descriptor() ),* ]
            }

            /// The tables that have rows, in order, with how many.
            pub fn filled(&self) -> Vec<(&'static str, usize)> {
                self.counts().into_iter().filter(|(_, rows)| *rows > 0).collect()
            }

            /// Rows of one table as a record batch; those of the range that it has.
            pub fn batch(&self, table: &str, rows: std::ops::Range<usize>) -> Result<RecordBatch, ArrowError> {
                match table {
                    $( <$Row as TableRow>::NAME => <$Row as TableRow>::batch_of(&self.$field, rows, &|_| true), )*
                    other => Err(ArrowError::InvalidArgumentError(format!("no table {other}"))),
                }
            }

            /// The tables that are wanted, empty ones too, with those of their columns that are: what the SQL engine registers, so that a query
            /// over an absent table gives no rows instead of an error.
            pub fn all_batches(&self, is_wanted: &dyn Fn(&str, Option<&str>) -> bool) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
                let mut out = Vec::new();
                $( if is_wanted(<$Row as TableRow>::NAME, None) {
                    let columns = |column: &str| is_wanted(<$Row as TableRow>::NAME, Some(column));
                    out.push((<$Row as TableRow>::NAME, <$Row as TableRow>::batch_of(&self.$field, 0..usize::MAX, &columns)?));
                } )*
                Ok(out)
            }

            /// Rows per table.
            pub fn counts(&self) -> Vec<(&'static str, usize)> {
                vec![ $( (<$Row as TableRow>::NAME, self.$field.len()) ),* ]
            }
        }
    };
}

tables! {
    artifacts: Artifact,
    executions: Execution,
    host: HostFact,
    environment: EnvironmentReading,
    diagnostics: Diagnostic,
    recording_facts: RecordingFact,
    losses: LostSecond,
    events: Event,
    processes: Process,
    threads: Thread,
    thread_names: ThreadName,
    dsos: Dso,
    mappings: Mapping,
    functions: Function,
    frames: Frame,
    stacks: Stack,
    samples: Sample,
    waits: Wait,
    wait_pairs: WaitPair,
    thread_states: ThreadState,
    syscalls: Syscall,
    syscall_events: SyscallEvent,
    block_requests: BlockRequest,
    lock_contentions: LockContention,
    interrupts: Interrupt,
    histograms: HistogramBucket,
    locks: LockTotal,
    accounting: Accounting,
    allocations: Allocation,
    heap_timeline: HeapPoint,
    memory: MemoryPoint,
    counters: Counter,
    benchmarks: Benchmark,
    spans: Span,
    stated_verdicts: StatedVerdict,
    scaling_points: ScalingPoint,
    function_costs: FunctionCost,
    thread_weights: ThreadWeight,
    stack_costs: StackCost,
    stack_classes: StackClass,
    stack_sites: StackSite,
    series_trends: SeriesTrend,
    benchmark_stats: BenchmarkStat,
    span_costs: SpanCost,
    span_logs: SpanLog,
    baselines: Baseline,
    scaling_steps: ScalingStep,
    stated_scaling: StatedScaling,
    leaf_paths: LeafPath,
    leaf_spreads: LeafSpread,
    scaling: Scaling,
    readings: Reading,
    evidence: Evidence,
    hypotheses: Hypothesis,
    hotspots: Hotspot,
    quality: Quality,
    thresholds: Threshold,
    charges: Charged,
}

impl Tables {
    /// Replaces the stack of every row that has one, in the order of the tables: the one place that knows them all.
    pub fn map_stacks(&mut self, mut map: impl FnMut(Option<i32>) -> Option<i32>) {
        for row in &mut self.samples {
            row.stack_id = map(row.stack_id.get()).into();
        }
        for row in &mut self.waits {
            row.stack_id = map(row.stack_id.get()).into();
            row.waker_stack_id = map(row.waker_stack_id.get()).into();
        }
        for row in &mut self.syscall_events {
            row.stack_id = map(row.stack_id);
        }
        for row in &mut self.block_requests {
            row.stack_id = map(row.stack_id);
        }
        for row in &mut self.lock_contentions {
            row.stack_id = map(row.stack_id);
        }
        for row in &mut self.allocations {
            row.stack_id = map(row.stack_id);
        }
    }
}
