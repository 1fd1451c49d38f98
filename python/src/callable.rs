//! Objectives and metrics that are Python functions.

use burnrank::objective::{Gradients, LossScratch, Outputs, Query, QueryResult};
use burnrank::{Error, Loss, Metric, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Arc, Mutex, PoisonError};

/// A Python function, and the first exception that it raised.
#[derive(Debug)]
pub struct Function {
    name: String,
    call: Py<PyAny>,
    failure: Mutex<Option<PyErr>>,
}

impl Function {
    /// Wraps a function of bytes, whose Python side converts them to arrays.
    pub fn new(name: String, call: Py<PyAny>) -> Arc<Self> {
        Arc::new(Function { name, call, failure: Mutex::default() })
    }

    /// Takes the first exception out.
    pub fn take_failure(&self) -> Option<PyErr> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Calls the function, and keeps its exception.
    fn call<T>(&self, call: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| call(py, self.call.bind(py))).map_err(|failure| {
            let text = format!("{}: {failure}", self.name);
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
            Error::Training(text)
        })
    }
}

/// A loss that is a Python function of scores and labels.
#[derive(Debug)]
pub struct PythonLoss(pub Arc<Function>);

impl Loss for PythonLoss {
    fn name(&self) -> String {
        format!("custom:{}", self.0.name)
    }

    fn query(&self, query: Query<'_>, to: Gradients<'_>, _: Outputs, _: &mut LossScratch) -> Result<QueryResult> {
        query.stop.check()?;
        let documents = query.scores.len();
        let (gradient, hessian, loss) = self.0.call(|py, call| {
            let result = call.call1((bytes(py, query.scores), bytes(py, query.labels)))?;
            result.extract::<(Vec<u8>, Vec<u8>, f64)>()
        })?;
        let fill = |values: &mut [f32], bytes: &[u8], what: &str| {
            let numbers: Vec<f32> =
                bytes.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect();
            if numbers.len() != documents {
                let (name, count) = (&self.0.name, numbers.len());
                return Err(Error::Training(format!(
                    "{name}: {count} numbers of the {what} for {documents} documents"
                )));
            }
            if let Some(number) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(Error::Training(format!("{}: {number} in the {what}", self.0.name)));
            }
            values.copy_from_slice(&numbers);
            Ok(())
        };
        fill(to.gradient, &gradient, "gradient")?;
        if let Some(values) = to.hessian {
            fill(values, &hessian, "hessian")?;
        }
        Ok(QueryResult { loss, pairs: documents as u64, saturated: 0 })
    }

    fn is_pointwise(&self) -> bool {
        // Whether equal labels define an order is up to the function.
        true
    }
}

/// A metric that is a Python function of scores and labels.
#[derive(Debug)]
pub struct PythonMetric(pub Arc<Function>);

impl Metric for PythonMetric {
    fn name(&self) -> String {
        self.0.name.clone()
    }

    fn value(&self, ranked: &[f32]) -> f64 {
        let value = self.0.call(|py, call| call.call1((bytes(py, ranked),))?.extract::<f64>());
        value.unwrap_or(f64::NAN)
    }
}

fn bytes<'py>(py: Python<'py>, values: &[f32]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}
