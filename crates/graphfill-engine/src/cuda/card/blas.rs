//! Products through cuBLAS, whose matrices lie column after column:
//!
//!   out = left · right, row after row,  is  outᵀ = rightᵀ · leftᵀ, column after column
//!
//! and a matrix row after row is its transpose column after column: so the factors change places and
//! keep their own transposes.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::cublas::{result, sys};

use super::driver::{Context, Memory, Stream, problem};
use crate::cuda::{Dense, Exactness, Existing, Precision, Product, STREAM_WORKSPACE_BYTES};
use crate::ops::Factor;

const WORKSPACE: usize = STREAM_WORKSPACE_BYTES as usize;

/// A handle of cuBLAS that works on one stream.
#[derive(Debug)]
pub(super) struct Blas {
    context: Arc<Context>,
    handle: sys::cublasHandle_t,
    precision: Precision,
    /// Its own memory: without it, capturing would allocate.
    _workspace: Memory,
}

// SAFETY: a handle may be used from any thread, by one at a time; its owner sees to that.
unsafe impl Send for Blas {}

impl Blas {
    pub(super) fn new(
        context: &Arc<Context>,
        stream: &Stream,
        precision: Precision,
    ) -> Result<Self, String> {
        let workspace = Memory::new(context, WORKSPACE).map_err(problem)?;
        let handle = result::create_handle().map_err(|error| format!("cuBLAS: {error:?}"))?;
        let blas = Blas { context: Arc::clone(context), handle, precision, _workspace: workspace };
        let memory = blas._workspace.address().0 as *mut c_void;
        // SAFETY: handle, stream and memory live as long as `blas`.
        let set = unsafe {
            result::set_stream(handle, stream.stream.cast())
                .and_then(|()| sys::cublasSetWorkspace_v2(handle, memory, WORKSPACE).result())
        };
        set.map_err(|error| format!("cuBLAS: {error:?}"))?;
        Ok(blas)
    }

    /// Puts a product into the stream.
    pub(super) fn product(&self, product: &Product) -> Result<(), String> {
        let Product { left, right, out, existing, exactness } = product;
        let operation = |factor: Factor| match factor {
            Factor::Plain => sys::cublasOperation_t::CUBLAS_OP_N,
            Factor::Transposed => sys::cublasOperation_t::CUBLAS_OP_T,
        };
        let depth = match left {
            (left, Factor::Plain) => left.columns,
            (left, Factor::Transposed) => left.rows,
        };
        let single = sys::cudaDataType_t::CUDA_R_32F;
        let compute = match (self.precision, exactness) {
            (Precision::F32, _) | (_, Exactness::Single) => {
                sys::cublasComputeType_t::CUBLAS_COMPUTE_32F
            }
            (Precision::Tf32, _) => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32,
            (Precision::Bf16, _) => sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_16BF,
        };
        let one = 1.0f32;
        let keep = if *existing == Existing::Add { 1.0f32 } else { 0.0 };
        let size = |number: usize| {
            i32::try_from(number)
                .map_err(|_| format!("a product of a matrix with {number} rows or columns"))
        };
        let at = |matrix: &Dense| matrix.at.0 as *mut c_void;
        // SAFETY: the matrices lie within memory of the card, as their shapes say.
        let status = unsafe {
            sys::cublasGemmEx(
                self.handle,
                operation(right.1),
                operation(left.1),
                size(out.columns)?,
                size(out.rows)?,
                size(depth)?,
                (&raw const one).cast(),
                at(&right.0),
                single,
                size(right.0.stride)?,
                at(&left.0),
                single,
                size(left.0.stride)?,
                (&raw const keep).cast(),
                at(out),
                single,
                size(out.stride)?,
                compute,
                sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        status.result().map_err(|error| format!("cuBLAS: {error:?}"))
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        if self.context.bind().is_ok() {
            // SAFETY: nobody uses it any more.
            let _ = unsafe { result::destroy_handle(self.handle) };
        }
    }
}
